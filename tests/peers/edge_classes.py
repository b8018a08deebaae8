"""The least share of wrong classes in a number of bytes of flash: `fit --flash` beside what others put on devices.

As `edge.py`, whose compiler, options and bytes these are: a decision tree, a forest and a network by emlearn, a forest and support vectors by
micromlgen, boosted trees and a line by m2cgen. Each rival is tried in several sizes, and chosen for each number of bytes by its wrong classes on a
fifth of the training rows; it is then trained on all of them. Sets are those of scikit-learn, two that it makes, and four of other packages.
Each cell is a line of the file of results, and a run that was stopped goes on from it.

    python tests/peers/edge_classes.py [--sets iris] [--splits 3] [--bytes 1024 2048 4096] [--out tests/peers/edge_classes.jsonl]
"""

import argparse
import copy
import itertools
import json
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

import emlearn
import lightgbm
import m2cgen
import micromlgen
import numpy as np
from edge import HOSTED, OPTIONS, numbers, program
from fit import ROOT, complete
from rivals import packaged, statsmodels
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

ROWS = 2_000


def made(flip, seed):
    return datasets.make_classification(
        ROWS, 8, n_informative=5, n_redundant=1, n_classes=4, n_clusters_per_class=2, flip_y=flip, random_state=seed
    )


SETS = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "made": lambda: made(0.02, 1),
    "moons": lambda: datasets.make_moons(ROWS, noise=0.3, random_state=1),
    "penguins": lambda: complete(packaged("palmerpenguins", "data/penguins.csv"), "species", ("island", "sex", "year")),
    "segment": lambda: complete(packaged("river", "datasets/segment.csv.zip"), "category"),
    "phishing": lambda: complete(packaged("river", "datasets/phishing.csv.gz"), "is_phishing"),
    "anes96": lambda: complete(statsmodels("anes96", sep="\t"), "PID", ("vote",)),
}


def bytes_of(folder, source, plus):
    """Bytes of text and data of a program in C, or in C++."""
    (folder / "main.c").write_text(source)
    options = [option.replace("c99", "c++17") for option in OPTIONS] if plus else OPTIONS
    language = ["-fno-exceptions", "-fno-rtti", "-x", "c++"] if plus else []
    # No library of C++ is needed, nor linked.
    command = ["arm-none-eabi-gcc", *options, "-I", str(folder), "-I", emlearn.includedir]
    subprocess.run([*command, *language, "main.c", "-x", "none", *HOSTED, "-o", "main.elf", "-lm"], cwd=folder, check=True, capture_output=True)
    size = subprocess.run(["arm-none-eabi-size", "main.elf"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return sum(map(int, size.splitlines()[1].split()[:2]))


def of_emlearn(model, folder, name):
    emlearn.convert(model, method="inline", dtype="float").save(file=str(folder / f"{name}.h"), name=name)
    return f'#include "{name}.h"\n', f"{name}_predict(row, {model.n_features_in_})", False


def of_micromlgen(model, folder, name):
    code = "#include <math.h>\n#include <stdint.h>\n" + micromlgen.port(model).replace("#pragma once", "").replace("<cstdarg>", "<stdarg.h>")
    kind = "SVM" if isinstance(model, SVC) else "RandomForest"
    return f"{code}\nstatic Eloquent::ML::Port::{kind} port;\n", "port.predict(row)", True


def of_m2cgen(model, folder, name):
    """A score for each class, or one for the second of two."""
    # The largest of the softmax is that of its arguments, which cost no exponential.
    code = m2cgen.export_to_c(model).replace("double", "float").replace("exp(x[i] - max)", "x[i]").replace("result[i] /= sum;", ";")
    code = "#include <math.h>\n" + code.replace(" exp(", " expf(")
    classes = len(model.classes_)
    if "* output" in code:
        best = f"int best = 0; float y[{classes}]; score(x, y);\nfor (int k = 1; k < {classes}; k++) if (y[k] > y[best]) best = k;\nreturn best;"
    else:
        best = f"return score(x) > {'0.5f' if hasattr(model, 'booster_') else '0'};"
    return f"{code}\nstatic int classify(float *x) {{ {best} }}\n", "classify(row)", False


def scaled(source):
    """The same of standardised features."""

    def standard(model, folder, name, mean, scale):
        before, call, plus = source(model, folder, name)
        d = len(mean)
        own = numbers("mean", mean) + numbers("scale", scale) + (
            f"static float *standardise(float *x)\n{{\n    for (int i = 0; i < {d}; i++)\n        x[i] = (x[i] - mean[i]) * scale[i];\n    return x;\n}}\n"
        )
        return before + own, call.replace("row", "standardise(row)"), plus

    return standard


def plain(source):
    return lambda model, folder, name, mean, scale: source(model, folder, name)


def rivals():
    """Families: whether their features are standardised, the source, and the models by size."""
    forests = lambda: (RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=0) for trees in (2, 4, 8, 16) for leaves in (4, 8, 16, 32))
    return {
        "tree (emlearn)": (False, plain(of_emlearn), lambda: (DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0) for leaves in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64))),
        "forest (emlearn)": (False, plain(of_emlearn), forests),
        "network (emlearn)": (True, scaled(of_emlearn), lambda: (MLPClassifier((units,), max_iter=600, random_state=0) for units in (2, 4, 8, 12, 16, 24, 32))),
        "forest (micromlgen)": (False, plain(of_micromlgen), forests),
        "support vectors (micromlgen)": (True, scaled(of_micromlgen), lambda: (SVC(kernel="rbf", gamma=gamma, C=c) for gamma in (0.03, 0.1, 0.3) for c in (0.1, 1, 10))),
        "boosted (m2cgen)": (False, plain(of_m2cgen), lambda: (lightgbm.LGBMClassifier(n_estimators=trees, num_leaves=leaves, learning_rate=min(0.5, 4 / trees), verbose=-1, n_jobs=1) for trees in (2, 4, 8, 16) for leaves in (2, 3, 4, 8))),
        "line (m2cgen)": (True, scaled(of_m2cgen), lambda: (LogisticRegression(C=c, max_iter=2_000) for c in (0.1, 1, 10))),
    }


def rival_cells(folder, family, train, test, budgets, empty):
    """The wrong classes and bytes of the best of a family, for each number of bytes that one fits."""
    standardised, source, models = rivals()[family]
    (rows, classes), (new, expected) = train, test
    mean, deviation = rows.mean(0), rows.std(0)
    scale = np.divide(1.0, deviation, out=np.ones_like(deviation), where=deviation > 0)
    if standardised:
        rows, new = (rows - mean) * scale, (new - mean) * scale
    learned, held, of_learned, of_held = train_test_split(rows, classes, test_size=0.2, stratify=classes, random_state=0)

    def size_of(model):
        # A compiler takes minutes for code whose numbers alone do not fit.
        if isinstance(model, SVC) and (least := 4 * model.support_vectors_.size) > max(budgets):
            return least
        before, call, plus = source(copy.deepcopy(model), folder, "rival", mean, scale)
        return bytes_of(folder, program(rows.shape[1], (before, call)), plus) - empty[plus]

    tried = []
    for model in models():
        first = copy.deepcopy(model).fit(learned, of_learned)
        tried.append((np.mean(first.predict(of_float(held)) != of_held), size_of(first), model))
    tried.sort(key=lambda one: one[:2])
    for budget in budgets:
        for _, size, model in tried:
            if size <= budget:
                whole = copy.deepcopy(model).fit(rows, classes)
                # On all rows it may have grown beyond the budget: then the next.
                if (used := size_of(whole)) <= budget:
                    yield budget, float(np.mean(whole.predict(of_float(new)) != expected)), used
                    break


def of_float(rows):
    return rows.astype(np.float32).astype(float)


def own_cells(dpp_nystrom, folder, train, test, budgets, empty):
    for name, (rows, classes) in (("train", train), ("test", test)):
        lines = [",".join([*map(repr, map(float, row)), f"c{label}"]) for row, label in zip(rows, classes)]
        names = [f"x{i}" for i in range(rows.shape[1])]
        (folder / f"{name}.csv").write_text("\n".join([",".join([*names, "y"]), *lines]) + "\n")

    def run(*arguments):
        done = subprocess.run([dpp_nystrom, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 or "too few" in done.stderr, done.stderr
        return done.stdout if done.returncode == 0 else None

    def within(flash):
        """The labels, and the bytes that the header takes here; none where nothing fits."""
        report = run("fit", "train.csv", "--target", "y", "--strict", "--flash", flash, "--model", "m.dpp", "--json")
        if report is None:
            return None
        labels = json.loads(report)["classes"]["labels"]
        for form, name in (("c", "m.h"), ("bytes", "m.bin")):
            run("export", "m.dpp", "--to", form, "--out", name)
        before = f'#include "m.h"\nstatic float outputs[{len(labels)}], margin;\n'
        return labels, bytes_of(folder, program(train[0].shape[1], (before, "m_classify(row, outputs, &margin)")), False) - empty[False]

    for budget in budgets:
        # The compiler's library, such as its memset, may take more than the program allows for.
        flash = budget
        while (made := within(flash)) is not None and made[1] > budget:
            flash -= made[1] - budget
        if made is None:
            continue
        labels, used = made
        found = run("predict", "m.bin", "test.csv", "--ignore", "y").splitlines()
        at = found[0].split(",").index("largest")
        own = [labels[int(line.split(",")[at])] for line in found[1:]]
        yield budget, float(np.mean([one != f"c{label}" for one, label in zip(own, test[1])])), used


OWN = "fit --flash"


def measure(arguments):
    done = [json.loads(line) for line in arguments.out.read_text().splitlines()] if arguments.out.exists() else []
    known = {(line["data"], line["split"], line["family"]) for line in done}
    for split, data, family in itertools.product(range(arguments.splits), arguments.sets, [OWN, *rivals()]):
        if (data, split, family) in known:
            continue
        rows, classes = SETS[data]()
        rows, new, classes, expected = train_test_split(rows, classes, test_size=0.3, stratify=classes, random_state=split)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            os.chdir(folder)
            folder = Path(folder)
            empty = [bytes_of(folder, program(rows.shape[1], ("", "row[0]")), plus) for plus in (False, True)]
            given = ((rows, classes), (new, expected), arguments.bytes, empty)
            cells = own_cells(arguments.program.resolve(), folder, *given) if family == OWN else rival_cells(folder, family, *given)
            cells = [dict(zip(("bytes", "wrong", "used"), cell)) for cell in cells]
            os.chdir("/")
        with arguments.out.open("a") as file:
            file.write(json.dumps(dict(data=data, split=split, family=family, cells=cells)) + "\n")
        print(data, split, family, cells, flush=True)


def report(path):
    """A table of the wrong classes in %, means over splits; the least of a row is bold."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    families = [OWN, *rivals()]
    cells = {}
    for line in lines:
        for cell in line["cells"]:
            cells.setdefault((line["data"], cell["bytes"], line["family"]), []).append(100 * cell["wrong"])
    splits = {data: len({line["split"] for line in lines if line["data"] == data}) for data in SETS}
    print(f"\n| data | bytes | {' | '.join(families)} |\n" + "| --- " * (len(families) + 2) + "|")
    wins = {(budget, family): [0, 0] for budget in sorted({key[1] for key in cells}) for family in families[1:]}
    for data, budget in sorted({key[:2] for key in cells}, key=lambda key: (list(SETS).index(key[0]), key[1])):
        found = [cells.get((data, budget, family), []) for family in families]
        means = [np.mean(values) if len(values) == splits[data] else None for values in found]
        least = min((mean for mean in means if mean is not None), default=None)
        shown = []
        for mean, values in zip(means, found):
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if mean is not None and len(values) > 1 else 0
            text = "" if mean is None else f"{mean:.1f} ± {error:.1f}"
            shown.append(f"**{text}**" if mean is not None and mean <= least + 1e-9 else text)
        print(f"| {data} | {budget:,} | {' | '.join(shown)} |")
        for family, mean in zip(families[1:], means[1:]):
            # A model of our own that does not fit is worse than one that does; of a rival there is nothing to compare.
            if mean is not None and (means[0] is None or abs(mean - means[0]) > 1e-9):
                wins[budget, family][int(means[0] is None or mean < means[0])] += 1
    for budget in sorted({key[0] for key in wins}):
        print(f"| better, worse | {budget:,} | | {' | '.join('{}, {}'.format(*wins[budget, family]) for family in families[1:])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--out", type=Path, default=ROOT / "tests/peers/edge_classes.jsonl")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--bytes", type=int, nargs="*", default=[1_024, 2_048, 4_096])
    arguments = parser.parse_args()
    arguments.out = arguments.out.resolve()
    measure(arguments)
    report(arguments.out)


if __name__ == "__main__":
    main()
