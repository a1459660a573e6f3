"""Gold answers of the table questions, computed from docs/ with pandas.

python3 gold.py --check   recomputes every answer and compares it with questions.jsonl (exit 1 on a difference)
python3 gold.py --write   writes the computed answers into questions.jsonl

Needs: pandas, lxml, openpyxl, python-docx, pypdf.
"""
import json
import re
import sys
from functools import cache
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
DOCS, QUESTIONS = HERE / 'docs', HERE / 'questions.jsonl'


# --- reading the documents ---------------------------------------------------------------------------------

@cache
def csv(name, **how):
    """A CSV file; only an empty cell is a missing value (Namibia's code is NA)."""
    return pd.read_csv(DOCS / name, keep_default_na=False, na_values=[''], **how)


@cache
def elements():
    """The Markdown table of the elements."""
    lines = [line for line in (DOCS / 'elements.md').read_text(encoding='utf-8').splitlines() if line.startswith('|')]
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in lines]
    frame = pd.DataFrame(rows[2:], columns=['number', 'symbol', 'name', 'group', 'weight', 'density', 'melt', 'boil', 'year', 'place'])
    for column in ['number', 'weight', 'density', 'melt', 'boil', 'year']:
        frame[column] = pd.to_numeric(frame[column])
    return frame


@cache
def co2():
    """The semicolon file with decimal commas and German dates."""
    frame = pd.read_csv(DOCS / 'co2_mauna_loa.csv', sep=';', decimal=',')
    frame.columns = ['date', 'co2', 'adjusted']
    frame['date'] = pd.to_datetime(frame['date'], format='%d.%m.%Y')
    return frame


@cache
def quakes():
    lines = (DOCS / 'earthquakes.jsonl').read_text(encoding='utf-8').splitlines()
    return pd.DataFrame([json.loads(line) for line in lines])


@cache
def crime():
    frame = pd.read_html(DOCS / 'us_state_crime_2009.html')[0]
    frame.columns = ['state', 'violent', 'murder', 'hs', 'poverty', 'single', 'white', 'urban']
    return frame


@cache
def departures():
    """The workbook's month rows only (no subtotals, no total), by month; columns EWR, EWRc (cancelled), JFK, ..."""
    frame = pd.read_excel(DOCS / 'nyc_departures_2013.xlsx', header=None, skiprows=4)
    frame.columns = ['month', 'EWR', 'EWRc', 'JFK', 'JFKc', 'LGA', 'LGAc']
    frame = frame[frame.JFK.notna() & ~frame.month.astype(str).str.contains('otal')]
    return frame.set_index('month').astype(int)


@cache
def unemployed():
    """The table of the Word report, by industry; thousands of persons in December."""
    from docx import Document
    rows = [[cell.text for cell in row.cells] for row in Document(str(DOCS / 'unemployment_report.docx')).tables[0].rows]
    frame = pd.DataFrame(rows[1:], columns=['industry', 'y2007', 'y2008', 'y2009', 'rate']).set_index('industry')
    return frame.map(lambda text: float(text.replace(',', '')))


@cache
def iowa():
    """The table of the PDF, by year (thousand MWh)."""
    from pypdf import PdfReader
    text = PdfReader(DOCS / 'iowa_electricity.pdf').pages[0].extract_text()
    rows = re.findall(r'(20\d\d)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)', text)
    frame = pd.DataFrame([[int(cell.replace(',', '')) for cell in row] for row in rows], columns=['year', 'fossil', 'nuclear', 'renewable'])
    return frame.set_index('year')


P, AL, PL = csv('penguins.csv'), csv('airlines.csv'), csv('planes.csv')
AP, F, W = csv('us_airports.csv'), csv('flights_thanksgiving_2013.csv'), csv('seattle-weather.csv')
G, C, Z = csv('gapminder.csv'), csv('countries.csv', dtype=str), csv('国家代码表.csv', dtype=str)
CITY, H, JOB = csv('全国地级行政区.csv', dtype=str), csv('法定节假日安排.csv'), csv('美国就业人数（千人）.csv').set_index('月份')
SUN, NILE = csv('sunspots.csv').set_index('year').sunspot_number, csv('nile_flow.csv').set_index('year').volume
NINO, M = csv('el_nino_sea_temperature.csv').set_index('Year'), csv('us_macro_quarterly.csv')
CAP, ST, GR, B = csv('us_state_capitals.csv'), csv('us_states_population_hurricanes.csv'), csv('company_investment_1935-1954.csv'), csv('bird_strikes_with_costs.csv')
EL, CO2, Q, CR, DEP, UN, IOWA = elements(), co2(), quakes(), crime(), departures(), unemployed(), iowa()
BIRD = B.rename(columns={'Cost Total $': 'cost', 'Wildlife Species': 'species', 'Phase of flight': 'phase', 'Time of day': 'time',
                         'Aircraft Airline Operator': 'operator', 'Airport Name': 'airport', 'Origin State': 'state',
                         'Speed IAS in knots': 'speed', 'Flight Date': 'date', 'Wildlife Size': 'size'})


# --- small helpers -----------------------------------------------------------------------------------------

def one(frame, key, value, column):
    """The single cell of `column` in the only row where `key` is `value`."""
    cells = frame.loc[frame[key] == value, column]
    assert len(cells) == 1, (key, value, len(cells))
    return cells.iloc[0]


def top(frame, by, name, n=1, least=False):
    """The names of the n rows with the highest (least: the lowest) value; no tie at the border is allowed."""
    ordered = frame.dropna(subset=[by]).sort_values(by, ascending=least, kind='stable')
    assert len(ordered) <= n or ordered[by].iloc[n - 1] != ordered[by].iloc[n], f'tie in {by}'
    names = ordered[name].head(n).tolist()
    return names[0] if n == 1 else names


def best(series, rank=1, least=False):
    """The label of the highest (least: the lowest) value of a series, or of the rank-th; no tie is allowed."""
    ordered = series.sort_values(ascending=least, kind='stable')
    value = ordered.iloc[rank - 1]
    assert (series == value).sum() == 1, 'tie'
    return ordered.index[rank - 1]


def growth(old, new):
    return (new - old) / old * 100


def gap(country, year, column):
    return one(G[G.year == year], 'country', country, column)


def firm(name, year, column):
    return one(GR[GR.year == year], 'firm', name, column)


def macro(year, quarter, column):
    return one(M[M.year == year], 'quarter', quarter, column)


def state(name, column):
    return one(CR, 'state', name, column)


def element(name, column):
    return one(EL, 'name', name, column)


def days(year, holiday, kind='放假'):
    """The dates of a Chinese holiday ('' = all) in a year."""
    rows = H[H['日期'].str.startswith(str(year)) & (H['安排'] == kind)]
    return rows[rows['节日'] == holiday]['日期'] if holiday else rows['日期']


def co2_at(month, column='co2'):
    return one(CO2.assign(month=CO2.date.dt.strftime('%Y-%m')), 'month', month, column)


def co2_year(year):
    return CO2[CO2.date.dt.year == year].co2.mean()


def seattle(prefix):
    return W[W.date.str.startswith(prefix)]


def flown(day=''):
    return F[F.date.str.startswith(day)]


def capital_of(country):
    return one(C, 'Name', country, 'Capital')


G05, LAST, FIRST = G[G.year == 2005], '2013-11-29', '2013-11-28'


GOLD = {
    't001': lambda: len(P),
    't002': lambda: len(P[(P.sex == 'female') & (P.species == 'Gentoo')]),
    't003': lambda: P.sex.isna().sum(),
    't004': lambda: [int((P.island == i).sum()) for i in ['Biscoe', 'Dream', 'Torgersen']],
    't005': lambda: P[P.species == 'Chinstrap'].body_mass_g.mean(),
    't006': lambda: best(P.groupby('species').flipper_length_mm.mean()),
    't007': lambda: P.body_mass_g.max(),
    't008': lambda: (P.body_mass_g > 5000).sum(),
    't009': lambda: P[P.island == 'Dream'].bill_length_mm.median(),
    't010': lambda: (P.sex == 'male').sum() / P.sex.notna().sum() * 100,
    't011': lambda: P[(P.species == 'Gentoo') & (P.sex == 'male')].body_mass_g.mean() - P[(P.species == 'Gentoo') & (P.sex == 'female')].body_mass_g.mean(),
    't012': lambda: (P.island != 'Biscoe').sum(),
    't013': lambda: (P.year == 2008).sum(),
    't014': lambda: sorted(P[P.island == 'Dream'].species.unique()),
    't015': lambda: one(AL, 'carrier', 'B6', 'name'),
    't016': lambda: one(AL, 'carrier', 'HA', 'name'),
    't017': lambda: one(AL, 'name', 'Southwest Airlines Co.', 'carrier'),
    't018': lambda: (PL.manufacturer == 'EMBRAER').sum(),
    't019': lambda: PL.seats.max(),
    't020': lambda: one(PL, 'tailnum', 'N10156', 'model'),
    't021': lambda: top(PL, 'year', 'tailnum', least=True),
    't022': lambda: (PL.year < 2000).sum(),
    't023': lambda: PL.year.isna().sum(),
    't024': lambda: PL[PL.manufacturer == 'BOMBARDIER INC'].seats.mean(),
    't025': lambda: best(PL.engine.value_counts(), rank=2),
    't026': lambda: PL.engine.nunique(),
    't027': lambda: one(AP, 'faa', 'BOS', 'name'),
    't028': lambda: top(AP, 'alt', 'name'),
    't029': lambda: (AP.tzone == 'America/Chicago').sum(),
    't030': lambda: AP.tzone.isna().sum(),
    't031': lambda: (AP.alt < 0).sum(),
    't032': lambda: one(AP, 'faa', 'ANC', 'alt'),
    't033': lambda: top(AP, 'alt', 'name', 3),
    't034': lambda: best(AP.tzone.value_counts()),
    't035': lambda: len(flown(LAST)),
    't036': lambda: (flown(FIRST).origin == 'JFK').sum(),
    't037': lambda: F.dep_delay.max(),
    't038': lambda: one(AL, 'carrier', best(F.carrier.value_counts()), 'name'),
    't039': lambda: one(AP, 'faa', best(F.dest.value_counts()), 'name'),
    't040': lambda: flown(FIRST)[flown(FIRST).origin == 'LGA'].arr_delay.mean(),
    't041': lambda: (flown(LAST).dep_delay > 60).sum(),
    't042': lambda: one(PL, 'tailnum', one(flown(FIRST)[flown(FIRST).carrier == 'UA'], 'flight', 1032, 'tailnum'), 'seats'),
    't043': lambda: one(AP, 'faa', F.loc[F.distance.idxmax(), 'dest'], 'name'),
    't044': lambda: F.tailnum.isin(PL[PL.manufacturer == 'BOEING'].tailnum).sum(),
    't045': lambda: ((F.carrier == 'DL') & (F.origin == 'LGA')).sum(),
    't046': lambda: F[F.carrier == 'AS'].distance.sum(),
    't047': lambda: (seattle('2012').weather == 'snow').sum(),
    't048': lambda: top(W, 'temp_max', 'date'),
    't049': lambda: W.temp_min.min(),
    't050': lambda: seattle('2013').precipitation.sum(),
    't051': lambda: seattle('2014-07').temp_max.mean(),
    't052': lambda: (seattle('2015').weather == 'fog').sum(),
    't053': lambda: top(W, 'precipitation', 'date'),
    't054': lambda: best(seattle('2014').weather.value_counts()),
    't055': lambda: growth(seattle('2013').precipitation.sum(), seattle('2014').precipitation.sum()),
    't056': lambda: seattle('2012-12').wind.max(),
    't057': lambda: (seattle('2015').precipitation == 0).sum(),
    't058': lambda: W[(W.weather == 'snow') & (W.date >= '2013')].date.min(),
    't059': lambda: gap('Japan', 2005, 'life_expectancy'),
    't060': lambda: gap('Kenya', 1980, 'population'),
    't061': lambda: growth(gap('China', 1955, 'population'), gap('China', 2005, 'population')),
    't062': lambda: top(G[G.year == 1955], 'fertility', 'country'),
    't063': lambda: top(G05, 'life_expectancy', 'country', least=True),
    't064': lambda: top(G[G.year == 1980], 'population', 'country', 3),
    't065': lambda: G[(G.country == 'India') & (G.life_expectancy > 60)].year.min(),
    't066': lambda: best(pd.Series({c: gap(c, 2000, 'fertility') for c in ['India', 'Brazil']})),
    't067': lambda: (G05.population > 100e6).sum(),
    't068': lambda: (G05.life_expectancy > 80).sum(),
    't069': lambda: gap('South Korea', 2000, 'life_expectancy') - gap('South Korea', 1960, 'life_expectancy'),
    't070': lambda: capital_of(top(G05, 'fertility', 'country')),
    't071': lambda: gap(one(Z, '三位代码', 'DEU', '英文名称'), 2005, 'population'),
    't072': lambda: G05.life_expectancy.median(),
    't073': lambda: capital_of('Mongolia'),
    't074': lambda: capital_of('Australia'),
    't075': lambda: (C.Currency == 'EUR').sum(),
    't076': lambda: (C.Continent == 'Africa').sum(),
    't077': lambda: C[C.Capital.isna()].Name.tolist(),
    't078': lambda: one(C, 'Phone', '86', 'Name'),
    't079': lambda: one(C, 'Name', 'Iceland', 'Phone'),
    't080': lambda: best(C.Continent.value_counts()),
    't081': lambda: one(C, 'Code', 'NA', 'Currency').split(','),
    't082': lambda: one(C, 'Code', one(Z, '三位代码', 'NZL', '二位代码'), 'Capital'),
    't083': lambda: one(C, 'Code', one(Z, '国家或地区', '马达加斯加', '二位代码'), 'Currency'),
    't084': lambda: one(Z, '数字代码', '156', '国家或地区'),
    't085': lambda: one(Z, '国家或地区', '老挝', '三位代码'),
    't086': lambda: len(Z),
    't087': lambda: one(Z, '英文名称', 'Croatia', '三位代码'),
    't088': lambda: Z['二位代码'].str.startswith('A').sum(),
    't089': lambda: one(Z, '数字代码', '392', '英文名称'),
    't090': lambda: (CITY['省份'] == '江苏省').sum(),
    't091': lambda: one(CITY, '行政区划代码', '440300', '城市'),
    't092': lambda: CITY['省份'].value_counts()[lambda s: s == s.max()].index.tolist(),
    't093': lambda: CITY[CITY['省份'].str.startswith('宁夏')]['城市'].tolist(),
    't094': lambda: CITY['城市'].str.contains('自治州').sum(),
    't095': lambda: best(CITY['省份'].value_counts()[['湖北省', '湖南省']]),
    't096': lambda: one(CITY, '城市', '苏州市', '行政区划代码'),
    't097': lambda: CITY['省份'].str.startswith('新疆').sum(),
    't098': lambda: one(CITY, '城市', '绵阳市', '省份'),
    't099': lambda: len(days(2025, '春节')),
    't100': lambda: days(2024, '国庆节').min(),
    't101': lambda: len(days(2026, '', '补班')),
    't102': lambda: len(days(2023, '')),
    't103': lambda: days(2026, '中秋').max(),
    't104': lambda: ((H['安排'] == '补班') & (H['星期'] == '星期六')).sum(),
    't105': lambda: days(2022, '春节', '补班').tolist(),
    't106': lambda: len(days(2020, '国庆节')),
    't107': lambda: best(H[H['安排'] == '补班']['节日'].value_counts()),
    't108': lambda: one(H, '日期', days(2021, '端午').min(), '星期'),
    't109': lambda: element('Mercury', 'boil'),
    't110': lambda: top(EL, 'melt', 'name'),
    't111': lambda: (EL.group == 'Noble gases').sum(),
    't112': lambda: one(EL, 'symbol', 'Au', 'density'),
    't113': lambda: one(EL, 'year', 1669, 'name'),
    't114': lambda: EL.year.isna().sum(),
    't115': lambda: (EL.year > 1950).sum(),
    't116': lambda: one(EL, 'symbol', 'Fe', 'weight'),
    't117': lambda: best(pd.Series({n: element(n, 'density') for n in ['Lead', 'Silver']})),
    't118': lambda: element('Sodium', 'melt') - element('Potassium', 'melt'),
    't119': lambda: top(EL, 'boil', 'name', 3),
    't120': lambda: (EL.group == 'Lanthanides').sum(),
    't121': lambda: co2_at('1958-05'),
    't122': lambda: CO2[CO2.co2 > 400].date.min().strftime('%Y-%m'),
    't123': lambda: co2_year(2019),
    't124': lambda: co2_year(2019) - co2_year(2000),
    't125': lambda: CO2.co2.max(),
    't126': lambda: (CO2.co2 > 410).sum(),
    't127': lambda: growth(co2_at('1970-03'), co2_at('2020-03')),
    't128': lambda: co2_at('2015-06', 'adjusted'),
    't129': lambda: best(SUN),
    't130': lambda: SUN[SUN == 0].index.tolist(),
    't131': lambda: SUN.loc[1901:2000].mean(),
    't132': lambda: SUN[1800],
    't133': lambda: SUN[SUN > 150].index.min(),
    't134': lambda: (SUN > 100).sum(),
    't135': lambda: best(SUN.loc[1800:1899], rank=2),
    't136': lambda: NINO.loc[1983, 'Jun'],
    't137': lambda: best(NINO.loc[1998]),
    't138': lambda: best(NINO.Jan),
    't139': lambda: NINO.loc[2000].mean(),
    't140': lambda: best(NINO.loc[[1982, 1997], 'Dec']),
    't141': lambda: best(NINO.Aug, least=True),
    't142': lambda: macro(2009, 3, 'unemp'),
    't143': lambda: macro(2008, 1, 'realgdp'),
    't144': lambda: top(M, 'unemp', 'year'),
    't145': lambda: M[M.year == 1990].unemp.mean(),
    't146': lambda: growth(macro(1980, 1, 'cpi'), macro(1990, 1, 'cpi')),
    't147': lambda: top(M, 'tbilrate', 'year'),
    't148': lambda: M[M.realgdp > 10000].year.min(),
    't149': lambda: (M.infl < 0).sum(),
    't150': lambda: state('Louisiana', 'murder'),
    't151': lambda: top(CR, 'poverty', 'state'),
    't152': lambda: top(CR, 'violent', 'state', least=True),
    't153': lambda: best(CR[CR.state.isin(['California', 'Texas'])].set_index('state').violent),
    't154': lambda: CR.murder.median(),
    't155': lambda: (CR.hs > 91).sum(),
    't156': lambda: best(CR.set_index('state').murder, rank=2),
    't157': lambda: state(one(CAP, 'capital', 'Sacramento', 'state'), 'murder'),
    't158': lambda: one(CAP, 'state', top(CR, 'poverty', 'state'), 'capital'),
    't159': lambda: state(top(ST, 'hurricanes', 'state'), 'poverty'),
    't160': lambda: one(ST, 'state', one(CAP, 'capital', 'Boise', 'state'), 'population'),
    't161': lambda: (ST.hurricanes == 0).sum(),
    't162': lambda: top(ST, 'population', 'state'),
    't163': lambda: ST[ST.hurricanes > 40].state.tolist(),
    't164': lambda: ST.hurricanes.sum(),
    't165': lambda: one(CAP, 'state', 'Vermont', 'capital'),
    't166': lambda: one(CAP, 'capital', 'Pierre', 'state'),
    't167': lambda: top(CAP, 'latitude', 'capital'),
    't168': lambda: firm('IBM', 1950, 'invest'),
    't169': lambda: firm('General Motors', 1954, 'value'),
    't170': lambda: GR[GR.firm == 'US Steel'].invest.sum(),
    't171': lambda: top(GR[GR.year == 1940], 'invest', 'firm'),
    't172': lambda: GR[(GR.firm == 'Chrysler') & (GR.invest > 100)].year.min(),
    't173': lambda: best(pd.Series({f: firm(f, 1945, 'capital') for f in ['Goodyear', 'Union Oil']})),
    't174': lambda: GR.firm.nunique(),
    't175': lambda: GR[GR.year == 1935].invest.mean(),
    't176': lambda: top(Q, 'magnitude', 'place'),
    't177': lambda: Q.time.str.startswith('2018-02-04').sum(),
    't178': lambda: Q.depth_km.max(),
    't179': lambda: Q.place.str.contains('Hualian').sum(),
    't180': lambda: Q.place.str.contains('Indonesia').sum(),
    't181': lambda: (Q.magnitude >= 6).sum(),
    't182': lambda: Q[Q.magnitude == 6.1].place.tolist(),
    't183': lambda: Q.felt_reports.isna().sum(),
    't184': lambda: Q.magnitude.mean(),
    't185': lambda: BIRD.cost.max(),
    't186': lambda: BIRD[BIRD.date.str.startswith('1995')].cost.sum(),
    't187': lambda: best(BIRD.airport.value_counts()),
    't188': lambda: (BIRD.species == 'Canada goose').sum(),
    't189': lambda: BIRD[BIRD.operator == 'UNITED AIRLINES'].cost.mean(),
    't190': lambda: (BIRD.time == 'Night').sum(),
    't191': lambda: best(BIRD.groupby('state').cost.sum()),
    't192': lambda: (BIRD.cost > 1e6).sum(),
    't193': lambda: BIRD.speed.isna().sum(),
    't194': lambda: ((BIRD.phase == 'Climb') & (BIRD['size'] == 'Large')).sum(),
    't195': lambda: IOWA.loc[2017, 'renewable'],
    't196': lambda: IOWA[IOWA.renewable > 10000].index.min(),
    't197': lambda: IOWA[IOWA.renewable > IOWA.nuclear].index.min(),
    't198': lambda: best(IOWA.fossil),
    't199': lambda: IOWA.loc[2010].sum(),
    't200': lambda: growth(IOWA.loc[2007, 'renewable'], IOWA.loc[2017, 'renewable']),
    't201': lambda: DEP.loc['July', 'JFK'],
    't202': lambda: DEP.LGAc.sum(),
    't203': lambda: best(DEP.EWRc),
    't204': lambda: DEP.loc[['April', 'May', 'June'], 'JFK'].sum(),
    't205': lambda: DEP.EWR.sum() - DEP.LGA.sum(),
    't206': lambda: DEP.loc['December', ['EWRc', 'JFKc', 'LGAc']].sum(),
    't207': lambda: DEP.loc['February', 'EWRc'] / DEP.loc['February', 'EWR'] * 100,
    't208': lambda: UN.loc['Construction', 'y2009'],
    't209': lambda: best(UN.rate),
    't210': lambda: UN.loc['Government', 'y2009'] - UN.loc['Government', 'y2007'],
    't211': lambda: growth(UN.loc['Manufacturing', 'y2007'], UN.loc['Manufacturing', 'y2009']),
    't212': lambda: (UN.y2009 > 1000).sum(),
    't213': lambda: best(UN.rate, least=True),
    't214': lambda: best(NILE, least=True),
    't215': lambda: NILE.loc[1871:1898].mean(),
    't216': lambda: (NILE > 1000).sum(),
    't217': lambda: NILE[1913],
    't218': lambda: JOB.loc['2010-01-01', '制造业'],
    't219': lambda: JOB.loc['2006-01-01', '建筑业'] - JOB.loc['2010-01-01', '建筑业'],
    't220': lambda: best(JOB['非农环比变化'], least=True),
    't221': lambda: JOB[JOB.index.str.startswith('2015')]['零售业'].mean(),
    't222': lambda: best(JOB['政府']),
    't223': lambda: top(W, 'temp_min', 'date', least=True),
    't224': lambda: '有' if (seattle('2015').weather == 'snow').any() else '没有',
    't225': lambda: 'yes' if (AL.name == 'Alaska Airlines Inc.').any() else 'no',
    't226': lambda: BIRD.date.between('1991-01-01', '1993-12-31').sum(),
    't227': lambda: Q.time.between('2018-02-01', '2018-02-04').sum(),
    't228': lambda: [int((F.origin == o).sum()) for o in ['EWR', 'JFK', 'LGA']],
    't229': lambda: [int((PL.engine == e).sum()) for e in ['Turbo-fan', 'Turbo-jet']],
    't230': lambda: (C.Currency[C.Continent == 'South America'] != 'USD').sum(),
    't231': lambda: H[(H['安排'] == '放假') & H['日期'].between('2024-05-01', '2024-06-30')].shape[0],
    't232': lambda: (AP.tzone == 'America/New_York').sum() / len(AP) * 100,
}

# further accepted spellings of text answers
ALSO = {
    't015': ['JetBlue'],
    't016': ['Hawaiian Airlines', '夏威夷航空'],
    't027': ['Logan'],
    't028': ['TEX'],
    't034': ['纽约时区'],
    't038': ['JetBlue'],
    't039': ['Hartsfield-Jackson Atlanta'],
    't043': ['Honolulu'],
    't054': ['晴', 'sunny'],
    't066': ['印度'],
    't073': ['Ulaanbaatar'],
    't074': ['堪培拉'],
    't078': ['中国'],
    't080': ['非洲'],
    't082': ['惠灵顿'],
    't084': ['China'],
    't089': ['日本'],
    't095': ['湖南'],
    't098': ['四川'],
    't100': ['10月1日'],
    't103': ['9月27日'],
    't107': ['国庆'],
    't108': ['周六'],
    't110': ['钨'],
    't122': ['2014年4月', '01.04.2014'],
    't137': ['March', '3月', '三月'],
    't151': ['密西西比'],
    't153': ['得克萨斯', '德克萨斯'],
    't162': ['加利福尼亚', '加州'],
    't166': ['南达科他'],
    't171': ['通用汽车'],
    't176': ['Hualian'],
    't187': ['Portland'],
    't209': ['建筑'],
    't220': ['2009年3月', '2009-03'],
    't222': ['2010年5月', '2010-05'],
    't224': ['无', '否'],
    't225': ['Alaska Airlines Inc.'],
}


# --- checking and writing ----------------------------------------------------------------------------------

def text(value):
    """A value as an answer string: whole numbers without a point, others with at most four decimals."""
    if isinstance(value, str):
        return value
    number = round(float(value), 4)
    return str(int(number)) if number == int(number) else f'{number:.4f}'.rstrip('0')


def dated(iso):
    """Other spellings of a date such as 2014-08-11 (none for anything else)."""
    if not re.fullmatch(r'\d{4}-\d\d-\d\d', iso):
        return []
    d = pd.Timestamp(iso)
    return [f'{d.year}年{d.month}月{d.day}日', f'{d.day} {d:%B} {d.year}', f'{d:%B} {d.day}, {d.year}']


def answers(key):
    """The answers of one question: none, every element of a list, or the accepted spellings."""
    if key not in GOLD:
        return []
    value = GOLD[key]()
    values = value if isinstance(value, (list, tuple)) else value.tolist() if hasattr(value, 'tolist') and getattr(value, 'ndim', 0) else [value]
    texts = [text(v) for v in values]
    return texts + [spelled for t in texts[:1] if len(texts) == 1 for spelled in dated(t)] + ALSO.get(key, [])


def main():
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding='utf-8').splitlines() if line]
    known = {row['id'] for row in rows}
    wrong = sorted((set(GOLD) | set(ALSO)) - known)
    for row in rows:
        fresh = answers(row['id'])
        bad = bool(fresh) == (row['kind'] == 'none') or any(not (DOCS / name).is_file() for name in row['files'])
        if '--write' in sys.argv:
            row['answers'] = fresh
        if bad or fresh != row['answers']:
            wrong.append(row['id'])
            print(row['id'], row['question'], 'expected', row['answers'], 'computed', fresh)
    if '--write' in sys.argv:
        QUESTIONS.write_text(''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows), encoding='utf-8')
    print(f'{len(rows)} questions, {len(wrong)} wrong {wrong or ""}')
    return 1 if wrong else 0


if __name__ == '__main__':
    if not {'--check', '--write'} & set(sys.argv):
        sys.exit(__doc__)
    sys.exit(main())
