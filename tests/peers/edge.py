"""The least test error in a number of bytes of flash: `fit --flash` beside trees, networks and lines that others put on devices.

Every model is compiled with its `main` for a Cortex-M4F at -Os, sections collected; its bytes are those of text and data, less those
of a program without a model. A rival is tried in several sizes and seeds, and chosen for each number of bytes by its error on a fifth
of the training rows that it has not seen; it is then trained on all of them. No choice sees the test rows. Instructions are those of
QEMU's Cortex-M4F for a prediction, means over the first sixteen test rows, of the same sources.

The folder of results has `edge.csv`, a line for each model, `edge.md`, the tables, and a chart for each set. A run that was stopped
goes on from `edge.csv`: without the lines of dpp-nystrom it measures these alone.
"""

import argparse
import copy
import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import emlearn
import lightgbm
import m2cgen
import matplotlib
import numpy as np
from fit import ROOT, SETS, table
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

COMPILER = "arm-none-eabi-gcc"
MACHINE = "-std=c99 -Os -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16".split()
OPTIONS = MACHINE + "-ffunction-sections -fdata-sections -fsingle-precision-constant -Wl,--gc-sections".split()
HOSTED = ["--specs=nano.specs", "--specs=nosys.specs"]
# Test rows whose instructions are counted.
COUNTED_ROWS = 16
BOARD = ROOT / "examples/firmware/c"
MAIN = """
volatile float input[{features}];
volatile float output;
int main(void)
{{
    float row[{features}];
    for (int i = 0; i < {features}; i++)
        row[i] = input[i];
    output = {call};
    return 0;
}}
"""
# The board's counter has 25 MHz; an instruction takes 256 ns.
COUNTED = """
#include <stdio.h>
volatile float output;
int main(void)
{{
    volatile unsigned *const counter = (volatile unsigned *)0x40028018u;
    unsigned ticks = 0;
    for (int i = 0; i < {rows}; i++) {{
        float row[{features}];
        for (int j = 0; j < {features}; j++)
            row[j] = inputs[i][j];
        unsigned begin = *counter;
        /* The row changes here, so that nothing is computed before. */
        __asm__ volatile("" : : "r"(row) : "memory");
        output = {call};
        ticks += *counter - begin;
    }}
    printf("%.0f\\n", (double)ticks * 40 / 256 / {rows});
    return 0;
}}
"""


def linked(folder, source):
    """Bytes of text and data of a program."""
    compiled(folder, source, HOSTED)
    size = subprocess.run(["arm-none-eabi-size", "main.elf"], cwd=folder, check=True, capture_output=True, text=True).stdout
    text, data = size.splitlines()[1].split()[:2]
    return int(text) + int(data)


def compiled(folder, source, how):
    (folder / "main.c").write_text(source)
    include = ["-I", str(folder), "-I", emlearn.includedir]
    command = [COMPILER, *OPTIONS, *include, "main.c", *how, "-o", "main.elf", "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def instructions(folder, model, rows):
    """Instructions of a prediction, a mean over rows."""

    def counted(before, call):
        values = "},\n{".join(", ".join(f"{value:.9e}f" for value in row) for row in rows)
        inputs = f"static const float inputs[][{rows.shape[1]}] = {{ {{{values}}} }};\n"
        source = before + inputs + COUNTED.format(features=rows.shape[1], call=call, rows=len(rows))
        compiled(folder, source, ["-nostartfiles", "-T", str(BOARD / "image.ld"), str(BOARD / "startup.c")])
        run = subprocess.run([BOARD / "run", folder / "main.elf"], check=True, capture_output=True, text=True)
        return int(run.stdout)

    before, call = model
    return counted(before, call) - counted("", "row[0]")


def program(features, model):
    before, call = model
    return before + MAIN.format(features=features, call=call)


def numbers(name, values):
    return f"static const float {name}[] = {{ {', '.join(f'{value:.9e}f' for value in values)} }};\n"


class Line:
    def __init__(self):
        self.model = RidgeCV(np.logspace(-4, 4, 17))

    def source(self, folder, mean, scale):
        weights = self.model.coef_ * scale
        before = numbers("weights", weights) + (
            f"static float line(const float *x)\n{{\n    float sum = {self.model.intercept_ - weights @ mean:.9e}f;\n"
            f"    for (int i = 0; i < {len(weights)}; i++)\n        sum += weights[i] * x[i];\n    return sum;\n}}\n"
        )
        return before, "line(row)"


class Forest:
    def __init__(self, trees, leaves, seed):
        self.model = RandomForestRegressor(trees, max_leaf_nodes=leaves, random_state=seed, max_features=1.0 if trees < 3 else 0.6)

    def source(self, folder, mean, scale):
        # The trees are of standardised features: thresholds in the features' own units.
        for tree in self.model.estimators_:
            inner = tree.tree_.feature >= 0
            at = tree.tree_.feature[inner]
            tree.tree_.threshold[inner] = tree.tree_.threshold[inner] / scale[at] + mean[at]
        emlearn.convert(self.model, method="inline", dtype="float").save(file=str(folder / "forest.h"), name="forest")
        return '#include "forest.h"\n', f"forest_predict(row, {len(mean)})"


class Network:
    """A network, which two families of sources share."""

    def __init__(self, hidden, seed):
        self.model = MLPRegressor(hidden_layer_sizes=(hidden,), max_iter=600, early_stopping=True, random_state=seed, n_iter_no_change=20)

    def layers(self, mean, scale):
        """Weights and biases of the layers; the first takes the features in their own units."""
        (inner, outer), (bias, last) = self.model.coefs_, self.model.intercepts_
        inner = inner * scale[:, None]
        return inner, bias - mean @ inner, outer, last

    def source(self, folder, mean, scale):
        """As emlearn writes it."""
        inner, bias, outer, last = self.layers(mean, scale)
        model = copy.copy(self.model)
        model.coefs_, model.intercepts_ = [inner, outer], [bias, last]
        emlearn.convert(model, method="inline").save(file=str(folder / "network.h"), name="network")
        return '#include "network.h"\n', f"network_regress1(row, {len(mean)})"

    def plain_source(self, folder, mean, scale):
        """As a loop over arrays."""
        inner, bias, outer, last = self.layers(mean, scale)
        before = numbers("inner", inner.T.ravel()) + numbers("bias", bias) + numbers("outer", outer.ravel()) + (
            f"static float network(const float *x)\n{{\n    float sum = {last[0]:.9e}f;\n"
            f"    const float *w = inner;\n    for (int j = 0; j < {len(bias)}; j++) {{\n        float unit = bias[j];\n"
            f"        for (int i = 0; i < {len(mean)}; i++)\n            unit += *w++ * x[i];\n"
            "        if (unit > 0)\n            sum += outer[j] * unit;\n    }\n    return sum;\n}\n"
        )
        return before, "network(row)"


class Boosted:
    def __init__(self, trees, leaves):
        self.model = lightgbm.LGBMRegressor(
            n_estimators=trees, num_leaves=leaves, learning_rate=min(0.5, 8 / trees), min_child_samples=10, verbose=-1, n_jobs=1
        )

    def source(self, folder, mean, scale):
        # Standardised in the program: m2cgen has thresholds as literals.
        before = m2cgen.export_to_c(self.model).replace("double", "float")
        before += numbers("mean", mean) + numbers("scale", scale) + (
            "static float boosted(float *x)\n{\n"
            f"    for (int i = 0; i < {len(mean)}; i++)\n        x[i] = (x[i] - mean[i]) * scale[i];\n    return score(x);\n}}\n"
        )
        return before, "boosted(row)"


def rivals():
    """The families, each with the sources that it is compiled from, its sizes and its seeds."""
    forests = [(trees, leaves, seed) for trees in (1, 2, 3, 5) for leaves in (8, 16, 32, 64, 128) for seed in (0, 1)]
    boosted = [(trees, leaves) for trees in (4, 8, 16, 32, 64) for leaves in (2, 3, 4, 6, 8, 12)]
    networks = [(hidden, seed) for hidden in (4, 8, 12, 16, 24, 32, 48, 64) for seed in range(3)]
    return [
        ({"line": Line.source}, Line, [()]),
        ({"forest": Forest.source}, Forest, forests),
        ({"boosted": Boosted.source}, Boosted, boosted),
        ({"network": Network.source, "plain network": Network.plain_source}, Network, networks),
    ]


FAMILIES = ["dpp-nystrom"] + [name for sources, _, _ in rivals() for name in sources]


def rooted(predictions, targets):
    return float(np.sqrt(np.mean((predictions - targets) ** 2)))


def rival_errors(folder, train, test, budgets, empty):
    """Family, bytes allowed, error, bytes, instructions and size of the best of each family; targets are standardised."""
    (rows, targets), (new, expected) = train, test
    mean, deviation = rows.mean(0), rows.std(0)
    scale = np.divide(1.0, deviation, out=np.ones_like(deviation), where=deviation > 0)
    rows, standard = (rows - mean) * scale, (new - mean) * scale
    learned, held = np.split(np.random.default_rng(0).permutation(len(rows)), [4 * len(rows) // 5])

    def size_of(model, source):
        return linked(folder, program(rows.shape[1], source(copy.deepcopy(model), folder, mean, scale))) - empty

    for sources, family, sizes in rivals():
        tried, whole = [], {}
        for size in sizes:
            first = family(*size)
            first.model.fit(rows[learned], targets[learned])
            tried.append((rooted(first.model.predict(rows[held]), targets[held]), first, size))
        tried.sort(key=lambda one: one[0])
        for name, source in sources.items():
            sized = [(size_of(first, source), size) for _, first, size in tried]
            for budget in budgets:
                for _, size in (one for one in sized if one[0] <= budget):
                    if size not in whole:
                        whole[size] = family(*size)
                        whole[size].model.fit(rows, targets)
                    last = whole[size]
                    # On all rows a tree may have grown beyond the budget: then the next.
                    if (used := size_of(last, source)) <= budget:
                        error = rooted(last.model.predict(standard), expected)
                        count = instructions(folder, source(copy.deepcopy(last), folder, mean, scale), new[:COUNTED_ROWS])
                        yield name, budget, error, used, count, " ".join(map(str, size))
                        break


def write(path, rows, targets):
    names = [f"x{i}" for i in range(rows.shape[1])] + ["y"]
    np.savetxt(path, np.column_stack([rows, targets]), delimiter=",", header=",".join(names), comments="", fmt="%.17g")


def own_errors(dpp_nystrom, folder, train, test, budgets, empty):
    (rows, targets), (new, expected) = train, test
    write(folder / "train.csv", rows, targets)
    write(folder / "test.csv", new, expected)
    model = ('#include "model.h"\n', "model_predict(row)")

    def run(*arguments):
        command = [dpp_nystrom, *map(str, arguments)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)

    def within(flash):
        """What was chosen for so many bytes, and the bytes that it takes here; none where nothing fits."""
        fitted = run("fit", "train.csv", "--flash", flash, "--model", "model.dpp", "--json")
        if fitted.returncode != 0:
            return None
        chosen = json.loads(fitted.stdout)["flash"]["chosen"]
        for form, name in (("c", "model.h"), ("bytes", "model.bin")):
            assert run("export", "model.dpp", "--to", form, "--out", name).returncode == 0
        metric = "line" if chosen["line"] else chosen["metric"]
        words = f"{metric} {chosen['numbers']} c={chosen['landmarks']}{' free' if chosen['free_landmarks'] else ''}"
        return linked(folder, program(rows.shape[1], model)) - empty, words

    for budget in budgets:
        # Another compiler, or its library, may take more than the program allows for.
        flash = budget
        while (made := within(flash)) is not None and made[0] > budget:
            flash -= made[0] - budget
        if made is None:
            continue
        assert run("predict", "model.bin", "test.csv", "--out", "predictions.csv").returncode == 0
        predictions = np.loadtxt(folder / "predictions.csv", skiprows=1)
        used, words = made
        yield "dpp-nystrom", budget, rooted(predictions, expected), used, instructions(folder, model, new[:COUNTED_ROWS]), words


COLUMNS = ("data", "split", "family", "budget", "error", "bytes", "instructions", "size")


def measure(arguments, out):
    """Append the lines that are not in the file yet: of each split the program's, and the rivals'."""
    own = FAMILIES[0]
    done = {(line["data"], line["split"], line["family"] == own) for line in read(out)} if out.exists() else set()
    with out.open("a", newline="") as file:
        lines = csv.writer(file)
        if file.tell() == 0:
            lines.writerow(COLUMNS)
        for split, name in itertools.product(range(arguments.splits), arguments.sets):
            wanted = (True,) if arguments.own else (True, False)
            missing = [is_own for is_own in wanted if (name, split, is_own) not in done]
            if not missing:
                continue
            rows, targets = table(name)
            order = np.random.default_rng(split).permutation(len(rows))[: arguments.rows]
            learned, held = np.split(order, [3 * len(order) // 4])
            # `fit` leaves out columns of one value, and a device's model has no names to find the others by.
            rows = rows[:, rows[learned].std(0) > 0]
            centre, deviation = targets[learned].mean(), targets[learned].std()
            standard = (targets - centre) / deviation
            train, test = (rows[learned], standard[learned]), (rows[held], standard[held])
            with tempfile.TemporaryDirectory() as folder:
                # emlearn leaves files where it is called.
                os.chdir(folder)
                folder = Path(folder)
                empty = linked(folder, program(rows.shape[1], ("", "row[0]")))
                found = []
                if True in missing:
                    found += own_errors(arguments.program.resolve(), folder, train, test, arguments.bytes, empty)
                if False in missing:
                    found += rival_errors(folder, train, test, arguments.bytes, empty)
                os.chdir("/")
            lines.writerows((name, split, *line) for line in found)
            file.flush()
            print(f"{name}, split {split}: {len(found)} models", flush=True)


def read(path):
    with path.open(newline="") as file:
        kinds = dict(split=int, budget=int, error=float, bytes=int, instructions=int)
        return [{key: kinds.get(key, str)(value) for key, value in line.items()} for line in csv.DictReader(file)]


def report(lines):
    """Tables of errors and of instructions, means over splits, and on how many sets each rival has the lower error."""
    cells = defaultdict(list)
    for line in lines:
        cells[line["data"], line["budget"], line["family"]].append(line)
    splits = len({line["split"] for line in lines})
    sets, budgets = (sorted({line[key] for line in lines}) for key in ("data", "budget"))

    def mean(data, budget, family, what):
        found = cells[data, budget, family]
        return np.mean([line[what] for line in found]) if len(found) == splits else None

    for what, shown in (("error", "{:.3f}"), ("bytes", "{:,.0f}"), ("instructions", "{:,.0f}")):
        yield f"\n{what.capitalize()}, means over {splits} splits:\n"
        yield f"| data | bytes | {' | '.join(FAMILIES)} | sizes of dpp-nystrom |"
        yield "| --- " * (len(FAMILIES) + 3) + "|"
        for data, budget in itertools.product(sets, budgets):
            means = [mean(data, budget, family, what) for family in FAMILIES]
            row = ["-" if one is None else shown.format(one) for one in means]
            own = "; ".join(line["size"] for line in cells[data, budget, "dpp-nystrom"]) if what == "error" else ""
            yield f"| {data} | {budget:,} | {' | '.join(row)} | {own} |"
    yield "\nSets on which a rival has the lower error, and by how much:\n"
    yield f"| bytes | {' | '.join(FAMILIES[1:])} |"
    yield "| --- " * len(FAMILIES) + "|"
    for budget in budgets:
        row = []
        for family in FAMILIES[1:]:
            pairs = [(data, *(mean(data, budget, one, "error") for one in (family, "dpp-nystrom"))) for data in sets]
            less = [f"{data} {rival / own:.3f}" for data, rival, own in pairs if None not in (rival, own) and rival < own]
            row.append(", ".join(less) or "none")
        yield f"| {budget:,} | {' | '.join(row)} |"


def chart(lines, data, path):
    """Errors against bytes, of each family its points and the front of all."""
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    points = []
    for family in FAMILIES:
        found = defaultdict(list)
        for line in lines:
            if line["data"] == data and line["family"] == family:
                found[line["budget"]].append((line["bytes"], line["error"]))
        means = [np.mean(values, 0) for _, values in sorted(found.items())]
        if means:
            axes.plot(*np.transpose(means), marker="o", label=family, linewidth=2 if family == FAMILIES[0] else 1)
            points += map(tuple, means)
    front, least = [], np.inf
    for point in sorted(points):
        if point[1] < least:
            front.append(point)
            least = point[1]
    axes.step(*np.transpose(front), where="post", color="0.6", linewidth=6, alpha=0.4, zorder=0, label="front")
    axes.set(xscale="log", xlabel="bytes of flash", ylabel="test error, deviations of the target", title=data)
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--out", type=Path, default=ROOT / "target/edge", help="the folder of results")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000, help="of which a quarter is for the test")
    parser.add_argument("--bytes", type=int, nargs="*", default=[512, 1_024, 2_048, 4_096, 8_192])
    parser.add_argument("--own", action="store_true", help="measure no rival")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    measure(arguments, out / "edge.csv")
    lines = read(out / "edge.csv")
    tables = "\n".join(report(lines))
    (out / "edge.md").write_text(f"{tables}\n")
    print(tables)
    for data in {line["data"] for line in lines}:
        chart(lines, data, out / f"{data}.svg")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
