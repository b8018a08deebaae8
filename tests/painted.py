"""The stack that an image of examples/firmware/sizes uses, 0 where it is not run: tests/sizes calls it with target, image, nm.

QEMU starts with a painted memory. Once the image has left its outcome, the memory is read from the monitor."""

import pathlib
import subprocess
import sys
import tempfile
import time

PAINT = 0xC5
MACHINES = {
    "thumbv7em-none-eabihf": ("qemu-system-arm", ["-machine", "mps2-an386"], 0x20000000, 64),
    "thumbv6m-none-eabi": ("qemu-system-arm", ["-machine", "microbit"], 0x20000000, 16),
    "thumbv7m-none-eabi": ("qemu-system-arm", ["-machine", "lm3s6965evb"], 0x20000000, 64),
    "thumbv8m.main-none-eabihf": ("qemu-system-arm", ["-machine", "mps2-an505"], 0x38000000, 64),
    "riscv32imc-unknown-none-elf": (
        "qemu-system-riscv32", ["-machine", "virt", "-cpu", "rv32", "-bios", "none"], 0x80040000, 64),
}


def main(target, image, nm):
    if target not in MACHINES:
        return print(0)
    program, machine, start, kib = MACHINES[target]
    symbols = {}
    for line in subprocess.run([nm, image], capture_output=True, text=True, check=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 3:
            symbols[parts[2]] = int(parts[0], 16)
    # The stack grows down from the end of the memory to the end of the statics.
    floor = max(symbols[name] for name in ("__sheap", "__euninit", "__ebss", "_ebss") if name in symbols)
    with tempfile.TemporaryDirectory() as folder:
        paint = pathlib.Path(folder, "paint")
        paint.write_bytes(bytes([PAINT]) * (start + (kib << 10) - floor))
        dump = pathlib.Path(folder, "dump")
        monitor = subprocess.Popen(
            [program, *machine, "-display", "none", "-serial", "null", "-monitor", "stdio", "-kernel", image,
             "-device", f"loader,file={paint},addr={floor:#x},force-raw=on"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            outcome = 0
            deadline = time.monotonic() + 90
            while outcome not in (1, 2) and time.monotonic() < deadline:
                time.sleep(0.1)
                dump.unlink(missing_ok=True)
                monitor.stdin.write(f'memsave {start:#x} {kib << 10:#x} "{dump}"\n')
                monitor.stdin.flush()
                waited = time.monotonic() + 30
                while not (dump.exists() and dump.stat().st_size == kib << 10) and time.monotonic() < waited:
                    time.sleep(0.02)
                memory = dump.read_bytes()
                at = symbols["OUTCOME"] - start
                outcome = int.from_bytes(memory[at:at + 4], "little")
            if outcome != 1:
                sys.exit(f"painted: {image} ended with {outcome}, not with 1")
        finally:
            monitor.kill()
            monitor.wait()
    used = next(at for at in range(floor - start, len(memory)) if memory[at] != PAINT)
    print(len(memory) - used)


main(*sys.argv[1:])
