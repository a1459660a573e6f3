#!/usr/bin/env python3
"""Gold answers of questions.jsonl, computed with pandas from docs/.

python3 gold.py --check   recompute and compare, exit 1 on a difference
python3 gold.py --write   rewrite the "answers" in questions.jsonl
Needs pandas, openpyxl, python-docx and lxml.
"""
import datetime
import json
import pathlib
import sys

import docx
import openpyxl
import pandas as pd

HERE = pathlib.Path(__file__).parent
DOCS = HERE / "docs"
QUESTIONS = HERE / "questions.jsonl"


def csv(name, **kw):
    """A CSV file; only an empty field is missing ("NA" is a country code)."""
    return pd.read_csv(DOCS / name, keep_default_na=False, na_values=[""], **kw)


# ---- tables -----------------------------------------------------------------
C = csv("countries.csv", dtype={"calling_code": str})
CITY = csv("world_cities.csv")
CUR = csv("currencies.csv", dtype={"numeric_code": str})
EL = csv("elements.csv")
EL["year"] = pd.to_numeric(EL.yearDiscovered, errors="coerce")  # "Ancient" -> NaN
W = csv("seattle_weather.csv", sep=";", decimal=",")
W["date"] = pd.to_datetime(W.date, format="%d.%m.%Y")
W["y"], W["m"] = W.date.dt.year, W.date.dt.month
EMP = csv("us_employment.csv")
EMP["t"] = pd.to_datetime(EMP.month, format="%b %Y")
EMP = EMP.set_index("month", drop=False)
UN = csv("unemployment_by_industry.csv")
UN["rate"], UN["n"] = UN.unemployment_rate_percent, UN.unemployed_thousands
Q = csv("earthquakes.csv")
AIR = csv("us_airports.csv")
BIRD = csv("wildlife_strikes_2002.csv", dtype={"Effect Amount of damage": str})
BIRD.columns = ["airport", "model", "damage", "date", "operator", "state", "phase", "size",
                "species", "time", "other", "repair", "cost", "speed"]
CAP = csv("us_state_capitals.csv").set_index("state").capital
SST = csv("el_nino_sea_surface_temperature.csv").set_index("YEAR")
GT = csv("global_temperature.csv").set_index("year").anomaly_c
GR = csv("grunfeld_investment.csv")
ST = pd.read_html(DOCS / "us_states_crime_2009.html")[0]
ST.columns = ["state", "violent", "murder", "hs", "poverty", "single", "white", "urban"]
ST = ST.set_index("state")


def receipts():
    rows = openpyxl.load_workbook(DOCS / "federal_receipts_2010_2016.xlsx").active.values
    rows = [r for r in rows if isinstance(r[1], int) and r[0]]
    return pd.DataFrame([r[1:] for r in rows], [r[0] for r in rows], range(2010, 2017))


def iowa():
    rows = [[c.text for c in r.cells] for r in docx.Document(DOCS / "iowa_electricity.docx").tables[0].rows]
    frame = pd.DataFrame(rows[1:], columns=["year", "fossil", "nuclear", "renewable"])
    return frame.map(lambda s: int(s.replace(",", ""))).set_index("year")


R, IOWA = receipts(), iowa()


# ---- helpers ----------------------------------------------------------------
def best(frame, by, col, n=1, low=False):
    """The value of col in the row with the highest (lowest) by; a list if n > 1. A tie is an error."""
    s = frame.dropna(subset=[by]).sort_values(by, ascending=low, kind="stable")
    top = s.iloc[:n]
    if n == 1 or len(s) > n:
        assert len(s) <= n or s.iloc[n - 1][by] != s.iloc[n][by], f"tie in {by}"
    return top[col].iloc[0] if n == 1 else list(top[col])


def most(series):
    """The most frequent value; a tie is an error."""
    v = series.value_counts()
    assert len(v) < 2 or v.iloc[0] > v.iloc[1], "tie"
    return v.index[0]


def one(frame, col):
    assert len(frame) == 1, f"{len(frame)} rows"
    return frame[col].iloc[0]


def country(name):
    return one(C[C.name == name], "code")


def cities(name):
    return CITY[CITY.country_code == country(name)]


def currency_of(name):
    return one(CUR[CUR.code == one(C[C.name == name], "currency_code")], "name")


def element(name, col):
    return one(EL[EL.name == name], col)


def firm(name, year, col):
    return one(GR[(GR.firm == name) & (GR.year == year)], col)


def mean_rate(year):
    return UN[UN.year == year].groupby("industry", as_index=False).rate.mean()


def un(industry, year, month=None):
    f = UN[(UN.industry == industry) & (UN.year == year)]
    return f if month is None else f[f.month == month]


NO_DC = ST.drop("District of Columbia")
YES, NO = "yes", "no"

# ---- one expression a question -----------------------------------------------
GOLD = {
    # countries, cities, currencies
    "a001": lambda: (C.continent == "South America").sum(),
    "a002": lambda: best(C[C.continent == "Africa"], "population", "name"),
    "a003": lambda: best(C[C.continent == "Europe"], "area_km2", "name", low=True),
    "a004": lambda: one(C[C.code == "BT"], "capital"),
    "a005": lambda: one(C[C.name == "Iceland"], "calling_code"),
    "a006": lambda: (C.currency_code == "EUR").sum(),
    "a007": lambda: one(C[C.name == "Bolivia"], "neighbours").split(","),
    "a008": lambda: C[C.continent == "Asia"].population.sum(),
    "a009": lambda: C.capital.isna().sum(),
    "a010": lambda: currency_of("Bhutan"),
    "a011": lambda: currency_of("Ethiopia"),
    "a012": lambda: len(cities("Nigeria")),
    "a013": lambda: (cities("Japan").population > 1_000_000).sum(),
    "a014": lambda: best(cities("Brazil"), "population", "city"),
    "a015": lambda: one(CITY[CITY.city == one(C[C.name == "Canada"], "capital")], "population"),
    "a016": lambda: CITY[CITY.timezone == "Asia/Tokyo"].population.median(),
    "a017": lambda: (CITY.timezone == "America/New_York").sum(),
    "a018": lambda: best(CITY, "population", "city", 3),
    "a019": lambda: best(C[C.continent == "South America"], "area_km2", "name", 3),
    "a020": lambda: one(C[C.name == "Bangladesh"], "population") / one(C[C.name == "Bangladesh"], "area_km2"),
    "a021": lambda: one(C[C.name == "China"], "population") - one(C[C.name == "India"], "population"),
    "a022": lambda: one(CUR[CUR.code == "KZT"], "name"),
    "a023": lambda: (CUR.decimals == 0).sum(),
    "a024": lambda: (CUR.withdrawn == "yes").sum(),
    "a025": lambda: one(CUR[CUR.code == "VND"], "symbol"),
    "a026": lambda: currency_of(best(C[C.continent == "South America"], "population", "name")),
    "a027": lambda: C[(C.continent == "Africa") & (C.population > 50_000_000)].name.tolist(),
    "a028": lambda: most(CITY.country_code.map(C.set_index("code").name)),
    "a095": lambda: cities("India").population.between(1_000_000, 2_000_000).sum(),
    # chemical elements
    "a030": lambda: (EL.groupBlock == "Noble gas").sum(),
    "a031": lambda: best(EL, "density", "name"),
    "a032": lambda: EL[EL.standardState == "Liquid"].name.tolist(),
    "a033": lambda: element("Gold", "meltingPoint"),
    "a034": lambda: EL.electronegativity.isna().sum(),
    "a035": lambda: EL.year.between(1750, 1800).sum(),
    "a036": lambda: EL[EL.groupBlock == "Alkali metal"].atomicRadius.mean(),
    "a037": lambda: best(EL, "electronegativity", "name", 3),
    "a038": lambda: element("Tungsten", "boilingPoint") - element("Iron", "boilingPoint"),
    "a039": lambda: most(EL.groupBlock),
    "a040": lambda: element("Antimony", "symbol"),
    "a041": lambda: best(EL[EL.groupBlock == "Halogen"], "boilingPoint", "name", low=True),
    "a029": lambda: best(EL[EL.name.isin(["Lead", "Gold"])], "density", "name"),
    # Seattle weather
    "a042": lambda: ((W.y == 2012) & (W.weather == "snow")).sum(),
    "a043": lambda: best(W, "temp_min", "date", low=True),
    "a044": lambda: W[(W.y == 2014) & (W.m == 3)].precipitation.sum(),
    "a045": lambda: W[(W.y == 2015) & (W.m == 7)].temp_max.mean(),
    "a046": lambda: best(W, "wind", "date"),
    "a047": lambda: most(W[W.weather == "fog"].y),
    "a048": lambda: (W.temp_max > 30).sum(),
    "a049": lambda: (W[W.y == 2013].weather == "sun").mean() * 100,
    "a050": lambda: W[(W.y == 2015) & (W.temp_max > 30)].date.min(),
    "a051": lambda: W.precipitation.max(),
    "a052": lambda: ((W.y == 2014) & W.precipitation.between(10, 20)).sum(),
    "a079": lambda: sorted(W.weather.unique()),
    "a133": lambda: W[W.y == 2012].temp_min.median(),
    "a135": lambda: W[W.weather == "rain"].y.value_counts().sort_index().tolist(),
    # employment, unemployment
    "a053": lambda: EMP.construction["Jan 2008"],
    "a054": lambda: best(EMP, "nonfarm", "t", low=True),
    "a055": lambda: -(EMP.manufacturing["Dec 2015"] / EMP.manufacturing["Jan 2006"] - 1) * 100,
    "a056": lambda: EMP[EMP.t.dt.year == 2010].government.mean(),
    "a057": lambda: best(EMP, "nonfarm_change", "t", low=True),
    "a058": lambda: EMP.retail_trade["Jun 2009"],
    "a059": lambda: (EMP.nonfarm_change < 0).sum(),
    "a060": lambda: EMP[EMP.information < 2800].t.min(),
    "a061": lambda: EMP.loc["Dec 2015", ["mining_and_logging", "utilities"]].astype(float).idxmax(),
    "a062": lambda: un("Construction", 2009).rate.max(),
    "a063": lambda: best(UN[(UN.year == 2003) & (UN.month == 6)], "rate", "industry"),
    "a064": lambda: un("Agriculture", 2009).rate.mean(),
    "a065": lambda: UN.industry.nunique(),
    "a066": lambda: one(un("Manufacturing", 2005, 5), "n"),
    "a067": lambda: best(mean_rate(2009), "rate", "industry", low=True),
    "a068": lambda: UN[(UN.industry == "Information") & (UN.rate > 10)].shape[0],
    # earthquakes
    "a070": lambda: best(Q, "magnitude", "place"),
    "a071": lambda: (Q.magnitude >= 5).sum(),
    "a072": lambda: (Q.tsunami == 1).sum(),
    "a073": lambda: Q.depth_km.max(),
    "a074": lambda: best(Q, "felt_reports", "place"),
    "a075": lambda: (Q.status == "automatic").sum(),
    "a076": lambda: Q.time_utc.str.startswith("2018-02-04").sum(),
    "a077": lambda: Q.place.str.contains("Alaska").sum(),
    "a078": lambda: YES if Q.place.str.contains("Japan").any() else NO,
    # airports, wildlife strikes
    "a080": lambda: (AIR.state == "AK").sum(),
    "a081": lambda: one(AIR[AIR.iata == "ORD"], "name"),
    "a082": lambda: best(AIR, "latitude", "name"),
    "a083": lambda: AIR[AIR.state != "NA"].state.value_counts().index[1],
    "a084": lambda: one(AIR[AIR.iata == "BOI"], "city"),
    "a069": lambda: YES if (AIR.iata == "PEK").any() else NO,
    "a085": lambda: (BIRD.airport == "MEMPHIS INTL").sum(),
    "a086": lambda: BIRD.repair.max(),
    "a087": lambda: most(BIRD.operator),
    "a088": lambda: (BIRD.time == "Night").sum(),
    "a089": lambda: (BIRD.phase == "Approach").mean() * 100,
    "a090": lambda: ((BIRD["size"] == "Large") & (BIRD.damage != "None")).sum(),
    "a091": lambda: BIRD.cost.sum(),
    "a092": lambda: BIRD.speed.isna().sum(),
    "a093": lambda: BIRD.model.nunique(),
    "a094": lambda: BIRD[BIRD.species == "Canada goose"].shape[0],
    "a134": lambda: (BIRD.phase != "Approach").sum(),
    # federal receipts, Iowa electricity
    "a100": lambda: R.loc["Corporation Income Taxes", 2012],
    "a101": lambda: R.loc["Total receipts", 2014],
    "a102": lambda: (R.loc["Total receipts", 2014] / R.loc["Total receipts", 2010] - 1) * 100,
    "a103": lambda: R.loc["Individual Income Taxes", 2013] / R.loc["Total receipts", 2013] * 100,
    "a104": lambda: R.loc["Customs Duties", 2016],
    "a105": lambda: R.loc["Subtotal, Excise Taxes", 2011],
    "a106": lambda: R.loc["Estate and Gift Taxes"].idxmin(),
    "a107": lambda: IOWA.renewable[2017],
    "a108": lambda: IOWA.fossil.idxmax(),
    "a109": lambda: IOWA.index[IOWA.renewable > 10000].min(),
    "a110": lambda: IOWA.index[IOWA.renewable > IOWA.nuclear].min(),
    "a111": lambda: IOWA.nuclear.mean(),
    "a096": lambda: (IOWA.renewable[2017] / IOWA.renewable[2008] - 1) * 100,
    # states
    "a112": lambda: NO_DC.murder.idxmax(),
    "a113": lambda: ST.poverty.idxmin(),
    "a114": lambda: (NO_DC.poverty > 17).sum(),
    "a115": lambda: ST.hs["Texas"],
    "a116": lambda: ST.violent["Nevada"] - ST.violent["Maine"],
    "a117": lambda: CAP[NO_DC.violent.idxmin()],
    "a118": lambda: CAP[NO_DC.single.idxmax()],
    "a119": lambda: ST.poverty[CAP.index[CAP == "Santa Fe"][0]],
    # temperatures
    "a120": lambda: SST.MAR[1998],
    "a121": lambda: SST.DEC.idxmax(),
    "a122": lambda: SST.JAN.mean(),
    "a123": lambda: SST.JUN[GT[SST.index].idxmax()],
    "a124": lambda: GT.idxmax(),
    "a125": lambda: GT.index[GT > 0.5].min(),
    "a126": lambda: (GT < 0).sum(),
    "a127": lambda: GT.loc[2010:2019].mean(),
    # firms
    "a128": lambda: firm("General Motors", 1954, "invest"),
    "a129": lambda: best(GR[GR.year == 1940], "value", "firm"),
    "a130": lambda: GR[GR.firm == "IBM"].invest.mean(),
    "a131": lambda: GR[GR.year == 1954].invest.sum(),
    "a132": lambda: GR[(GR.firm == "Chrysler") & (GR.invest > 100)].year.min(),
}
UNANSWERABLE = {"a140", "a141", "a142", "a143", "a144", "a145"}

# ---- other accepted spellings of a text answer --------------------------------
ALSO = {
    "yes": ["Yes", "是", "有"], "no": ["No", "没有", "否", "无"],
    "Nigeria": ["尼日利亚"], "China": ["中国"], "Vatican": ["Vatican City", "梵蒂冈"],
    "Thimphu": ["廷布"], "Sao Paulo": ["São Paulo", "圣保罗"],
    "Bhutanese Ngultrum": ["Ngultrum", "不丹努尔特鲁姆"], "Ethiopian Birr": ["埃塞俄比亚比尔"],
    "Kazakhstani Tenge": ["Tenge", "坚戈"], "Brazilian Real": ["巴西雷亚尔"],
    "Osmium": ["锇"], "Gold": ["金"], "Fluorine": ["氟"], "Transition metal": ["Transition metals", "过渡金属"],
    "mining_and_logging": ["mining and logging"],
    "Leisure and hospitality": ["休闲和酒店业"], "Government": ["government"],
    "22km NNE of Hualian, Taiwan": ["Hualian, Taiwan", "Hualian"],
    "12km NNW of Friday Harbor, Washington": ["Friday Harbor, Washington", "Friday Harbor"],
    "Chicago O'Hare International": ["O'Hare", "Chicago O’Hare International", "奥黑尔"],
    "TX": ["Texas", "得克萨斯", "德克萨斯", "得州", "德州"],
    "AMERICAN AIRLINES": ["American Airlines"], "Louisiana": ["路易斯安那"],
    "New Hampshire": ["新罕布什尔"], "Augusta": ["奥古斯塔"], "General Motors": ["通用汽车"],
}


# ---- answers -----------------------------------------------------------------
def number(v):
    v = round(float(v), 4)
    return str(int(v)) if v == int(v) else str(v)


def spellings(v, monthly):
    """The accepted spellings of a text answer; a date in the usual ways of writing it."""
    if isinstance(v, datetime.datetime):
        if monthly:
            return [v.strftime("%b %Y"), v.strftime("%B %Y"), v.strftime("%Y-%m"), f"{v.year}年{v.month}月"]
        return [v.strftime("%d.%m.%Y"), v.strftime("%Y-%m-%d"), f"{v:%B} {v.day}, {v.year}",
                f"{v.day} {v:%B} {v.year}", f"{v.year}年{v.month}月{v.day}日"]
    return [str(v), *ALSO.get(str(v), [])]


def answers(q):
    if q["id"] in UNANSWERABLE:
        return []
    v = GOLD[q["id"]]()
    if q["kind"] == "list":
        return [str(x) for x in v]
    if q["kind"] == "number":
        return [number(v)]
    return spellings(v, monthly=q["files"] == ["us_employment.csv"])


def main():
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    ids = [q["id"] for q in questions]
    bad = len(ids) != len(set(ids))
    for name in set(GOLD) | UNANSWERABLE:
        if name not in ids:
            print("no question for", name)
            bad = True
    for q in questions:
        new = answers(q)
        if "--write" not in sys.argv and new != q["answers"]:
            print(q["id"], "has", q["answers"], "gold says", new)
            bad = True
        q["answers"] = new
    if "--write" in sys.argv:
        QUESTIONS.write_text("".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions), "utf-8")
    print(len(questions), "questions,", "differences" if bad else "all as computed")
    sys.exit(bad)


if __name__ == "__main__":
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__)
    main()
