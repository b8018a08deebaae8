"""Packages of `dpp-nystrom export --package`, read by the frameworks' own tools.

    pip install platformio idf-component-manager kconfiglib pyyaml pykwalify
    python3 tests/peers/packages.py [--program target/debug/dpp-nystrom] [--zephyr ZEPHYR_BASE]

PlatformIO Core packs the library and that of Arduino, which it reads as well, and installs the library into the example's project. ESP-IDF's
component manager packs the component. kconfiglib reads the Kconfig file, and with a checkout of Zephyr its `zephyr_module.py` the
module. No framework is built: an Arduino core, west, and ESP-IDF need toolchains of their own. A tool that is not installed is named.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MISSING = []


def run(folder, *command):
    """Run a tool; none if it is not installed."""
    beside = pathlib.Path(sys.executable).parent / command[0]
    program = str(beside) if beside.exists() else shutil.which(command[0])
    if program is None:
        MISSING.append(command[0])
        return False
    environment = {**os.environ, "PLATFORMIO_CORE_DIR": str(folder / "core"), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no"}
    done = subprocess.run([program, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    print("ok:", " ".join(command))
    return True


def kconfig(path):
    """Return the symbols of a Kconfig file."""
    try:
        import kconfiglib
    except ImportError:
        MISSING.append("kconfiglib")
        return None
    return [symbol.name for symbol in kconfiglib.Kconfig(str(path)).unique_defined_syms]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", default=ROOT / "target/debug/dpp-nystrom", type=pathlib.Path)
    arguments.add_argument("--zephyr", help="a checkout of Zephyr", type=pathlib.Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        random.seed(1)
        rows = ([random.gauss(0, 1) for _ in range(3)] for _ in range(300))
        lines = [",".join(f"{value:.5f}" for value in [*row, row[0] ** 2 + row[1]]) for row in rows]
        (folder / "rows.csv").write_text("a,b,c,price\n" + "\n".join(lines) + "\n")
        program = str(given.program.resolve())
        assert run(folder, program, "fit", "rows.csv", "--landmarks", "10", "--metric", "one", "--model", "houses-1.2.0.dpp")
        for package in ["arduino", "platformio", "zephyr", "esp-idf"]:
            assert run(folder, program, "export", "houses-1.2.0.dpp", "--package", package, "--out", package)
        for package in ["platformio", "arduino"]:
            if run(folder, "pio", "pkg", "pack", package, "-o", f"{package}.tar.gz"):
                names = set(tarfile.open(folder / f"{package}.tar.gz").getnames())
                own = {str(path.relative_to(folder / package)) for path in (folder / package).rglob("*") if path.is_file()}
                # Of Arduino's a library.json is made.
                assert own <= names, own - names
        run(folder, "pio", "pkg", "install", "-d", "platformio/examples/predict", "--no-save", "--library", "symlink://../..")
        run(folder, "compote", "component", "pack", "--project-dir", "esp-idf", "--name", "houses_model")
        assert kconfig(folder / "zephyr/Kconfig") in (["HOUSES_MODEL"], None)
        if given.zephyr:
            script = given.zephyr / "scripts/zephyr_module.py"
            run(folder, "python3", str(script.resolve()), "-m", "zephyr", "--kconfig-out", "k", "--cmake-out", "c", "-z", str(given.zephyr))
            assert "houses_model" in (folder / "c").read_text() and "HOUSES_MODEL" in (folder / "k").read_text()
        else:
            MISSING.append("a checkout of Zephyr (--zephyr)")
    print("not checked, because not at hand:", ", ".join(sorted(set(MISSING))) or "nothing")


if __name__ == "__main__":
    main()
