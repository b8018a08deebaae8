"""The least test error in a number of bytes of flash: `fit --flash` beside trees, networks and lines that others put on devices.

Every model is compiled with its `main` for a Cortex-M4F at -Os, sections collected; its bytes are those of text and data, less those
of a program without a model. A rival is tried in several sizes and seeds, and chosen for each number of bytes by its error on a fifth
of the training rows that it has not seen; it is then trained on all of them. No choice sees the test rows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import emlearn
import lightgbm
import m2cgen
import numpy as np
from fit import ROOT, SETS, table
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor

COMPILER = "arm-none-eabi-gcc"
OPTIONS = (
    "-std=c99 -Os -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections -fdata-sections "
    "-fsingle-precision-constant -Wl,--gc-sections --specs=nano.specs --specs=nosys.specs"
).split()
MAIN = """
volatile {number} input[{features}];
volatile {number} output;
int main(void)
{{
    {number} row[{features}];
    for (int i = 0; i < {features}; i++)
        row[i] = input[i];
    output = {call};
    return 0;
}}
"""


def linked(folder, source):
    """Bytes of text and data of a program."""
    (folder / "main.c").write_text(source)
    include = ["-I", str(folder), "-I", emlearn.includedir]
    subprocess.run([COMPILER, *OPTIONS, *include, "main.c", "-o", "main.elf", "-lm"], cwd=folder, check=True, capture_output=True)
    size = subprocess.run(["arm-none-eabi-size", "main.elf"], cwd=folder, check=True, capture_output=True, text=True).stdout
    text, data = size.splitlines()[1].split()[:2]
    return int(text) + int(data)


def program(features, call, number="float", before=""):
    return before + MAIN.format(features=features, call=call, number=number)


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
        return program(len(weights), "line(row)", before=before)


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
        return program(len(mean), f"forest_predict(row, {len(mean)})", before='#include "forest.h"\n')


class Network:
    """As emlearn writes it, and as plain C without its library."""

    def __init__(self, hidden, seed, plain):
        self.plain = plain
        self.model = MLPRegressor(hidden_layer_sizes=(hidden,), max_iter=600, early_stopping=True, random_state=seed, n_iter_no_change=20)

    def source(self, folder, mean, scale):
        # The first layer takes the features in their own units.
        first = self.model.coefs_[0] * scale[:, None]
        self.model.intercepts_[0] = self.model.intercepts_[0] - mean @ first
        self.model.coefs_[0] = first
        if self.plain:
            hidden = len(self.model.intercepts_[0])
            before = numbers("inner", first.T.ravel()) + numbers("bias", self.model.intercepts_[0])
            before += numbers("outer", self.model.coefs_[1].ravel()) + (
                f"static float network(const float *x)\n{{\n    float sum = {self.model.intercepts_[1][0]:.9e}f;\n"
                f"    const float *w = inner;\n    for (int j = 0; j < {hidden}; j++) {{\n        float unit = bias[j];\n"
                f"        for (int i = 0; i < {len(mean)}; i++)\n            unit += *w++ * x[i];\n"
                "        if (unit > 0)\n            sum += outer[j] * unit;\n    }\n    return sum;\n}\n"
            )
            return program(len(mean), "network(row)", before=before)
        emlearn.convert(self.model, method="inline").save(file=str(folder / "network.h"), name="network")
        return program(len(mean), f"network_regress1(row, {len(mean)})", before='#include "network.h"\n')


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
        return program(len(mean), "boosted(row)", before=before)


def rivals():
    """Each family, and its sizes and seeds."""
    forests = [(trees, leaves, seed) for trees in (1, 2, 3, 5) for leaves in (8, 16, 32, 64, 128) for seed in (0, 1)]
    boosted = [(trees, leaves) for trees in (4, 8, 16, 32, 64) for leaves in (2, 3, 4, 6, 8, 12)]
    networks = [(hidden, seed) for hidden in (4, 8, 12, 16, 24, 32, 48, 64) for seed in range(3)]
    return {
        "line": [Line],
        "forest": [lambda size=size: Forest(*size) for size in forests],
        "boosted": [lambda size=size: Boosted(*size) for size in boosted],
        "network": [lambda size=size: Network(*size, plain=False) for size in networks],
        "plain network": [lambda size=size: Network(*size, plain=True) for size in networks],
    }


def rooted(predictions, targets):
    return float(np.sqrt(np.mean((predictions - targets) ** 2)))


def rival_errors(folder, train, test, budgets, empty):
    """The test error of each family in each number of bytes; of the rows, targets are standardised."""
    (rows, targets), (new, expected) = train, test
    mean, deviation = rows.mean(0), rows.std(0)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    rows, new = (rows - mean) * scale, (new - mean) * scale
    learned, held = np.split(np.random.default_rng(0).permutation(len(rows)), [4 * len(rows) // 5])
    found = {}
    for family, makers in rivals().items():
        tried = []
        for make in makers:
            first = make()
            first.model.fit(rows[learned], targets[learned])
            error = rooted(first.model.predict(rows[held]), targets[held])
            bytes_used = linked(folder, first.source(folder, mean, np.where(scale > 0, scale, 1.0))) - empty
            tried.append((error, bytes_used, make))
        found[family] = {}
        for budget in budgets:
            for _, _, make in sorted((one for one in tried if one[1] <= budget), key=lambda one: one[0]):
                last = make()
                last.model.fit(rows, targets)
                error = rooted(last.model.predict(new), expected)
                bytes_used = linked(folder, last.source(folder, mean, np.where(scale > 0, scale, 1.0))) - empty
                # On all rows a tree may have grown beyond the budget: then the next.
                if bytes_used <= budget:
                    found[family][budget] = (error, bytes_used)
                    break
    return found


def write(path, rows, targets):
    names = [f"x{i}" for i in range(rows.shape[1])] + ["y"]
    np.savetxt(path, np.column_stack([rows, targets]), delimiter=",", header=",".join(names), comments="", fmt="%.17g")


def own_errors(dpp_nystrom, folder, train, test, budgets, empty):
    (rows, targets), (new, expected) = train, test
    write(folder / "train.csv", rows, targets)
    write(folder / "test.csv", new, expected)

    def run(*arguments):
        command = [dpp_nystrom, *map(str, arguments)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)

    def within(flash):
        """What was chosen for so many bytes, and the bytes that it takes here; none where nothing fits."""
        fitted = run("fit", "train.csv", "--flash", flash, "--model", "model.dpp", "--json")
        if fitted.returncode != 0:
            return None
        chosen = json.loads(fitted.stdout)["flash"]["chosen"]
        quantise = [] if chosen["numbers"] == "f32" else ["--quantise", chosen["numbers"]]
        for form, name in (("c", "model.h"), ("bytes", "model.bin")):
            assert run("export", "model.dpp", "--to", form, "--out", name, *quantise).returncode == 0
        source = program(rows.shape[1], "model_predict(row)", before='#include "model.h"\n')
        words = f"{chosen['metric']} {chosen['numbers']} c={chosen['landmarks']}{' free' if chosen['free_landmarks'] else ''}"
        return linked(folder, source) - empty, words

    found = {}
    for budget in budgets:
        # Another compiler, or its library, may take more than the program allows for.
        flash = budget
        while (made := within(flash)) is not None and made[0] > budget:
            flash -= made[0] - budget
        if made is None:
            continue
        assert run("predict", "model.bin", "test.csv", "--out", "predictions.csv").returncode == 0
        predictions = np.loadtxt(folder / "predictions.csv", skiprows=1)
        found[budget] = (rooted(predictions, expected), *made)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000, help="of which a quarter is for the test")
    parser.add_argument("--bytes", type=int, nargs="*", default=[512, 1_024, 2_048, 4_096, 8_192])
    arguments = parser.parse_args()
    print(f"| data | bytes | dpp-nystrom | {' | '.join(rivals())} | of dpp-nystrom |")
    print("| --- " * (len(rivals()) + 4) + "|")
    for name in arguments.sets:
        rows, targets = table(name)
        ours, others = [], []
        for split in range(arguments.splits):
            order = np.random.default_rng(split).permutation(len(rows))[: arguments.rows]
            learned, held = np.split(order, [3 * len(order) // 4])
            centre, deviation = targets[learned].mean(), targets[learned].std()
            standard = (targets - centre) / deviation
            train, test = (rows[learned], standard[learned]), (rows[held], standard[held])
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                empty = linked(folder, program(rows.shape[1], "row[0]"))
                ours.append(own_errors(arguments.program.resolve(), folder, train, test, arguments.bytes, empty))
                others.append(rival_errors(folder, train, test, arguments.bytes, empty))
        for budget in arguments.bytes:

            def cell(errors):
                errors = [error.get(budget) for error in errors]
                return "-" if None in errors else f"{np.mean([error[0] for error in errors]):.3f}"

            cells = [cell(ours)] + [cell([other[family] for other in others]) for family in rivals()]
            chosen = "; ".join(one[budget][2] for one in ours if budget in one)
            print(f"| {name} | {budget} | {' | '.join(cells)} | {chosen} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
