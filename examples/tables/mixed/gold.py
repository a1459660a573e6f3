"""Gold answers of the table questions of this mixed set, computed from docs/ with pandas.

python3 gold.py --check   recomputes every answer, compares it with questions.jsonl, and checks the set itself (exit 1 on a difference)
python3 gold.py --write   writes questions.jsonl
Needs: pandas, lxml, openpyxl.
"""
import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
DOCS, QUESTIONS = HERE / 'docs', HERE / 'questions.jsonl'
TOL = 0.005

NINO, CARS, CRIME, WEATHER = 'el_nino_sea_surface_temperature.csv', 'auto_mpg.jsonl', 'us_state_crime_2009.html', '西雅图逐日天气.xlsx'
SERVICE, LAW, CLINIC, MOULD = 'compressor_service_visits.csv', 'law_firm_matters.md', '各科室门诊量统计.xlsx', '注塑车间检验记录.csv'
MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split()


# --- reading -----------------------------------------------------------------------------------------------

@cache
def table(name):
    path = DOCS / name
    if name == NINO:
        return pd.read_csv(path).set_index('YEAR')
    if name == CARS:
        return pd.read_json(path, lines=True)
    if name == CRIME:
        f = pd.read_html(path)[0]
        f.columns = ['state', 'violent', 'murder', 'hs', 'poverty', 'single', 'white', 'urban']
        return f
    if name == WEATHER:
        f = pd.concat([s.set_axis(['date', 'rain', 'high', 'low', 'wind', 'kind'], axis=1) for s in pd.read_excel(path, sheet_name=None, skiprows=3).values()])
        f['year'], f['month'] = f.date.dt.year, f.date.dt.month
        return f
    if name == SERVICE:
        f = pd.read_csv(path, thousands=',', parse_dates=['Date', 'Closed on'])
        f.columns = ['no', 'date', 'customer', 'town', 'machine', 'tech', 'fault', 'hours', 'parts', 'invoice', 'warranty', 'closed']
        return f
    if name == LAW:
        rows = [[c.strip() for c in line.strip()[1:-1].split('|')] for line in path.read_text(encoding='utf-8').splitlines() if line.startswith('|')]
        f = pd.DataFrame(rows[2:], columns=['no', 'client', 'area', 'partner', 'opened', 'closed', 'hours', 'fees', 'outcome'])
        f['opened'], f['closed'] = pd.to_datetime(f.opened), pd.to_datetime(f.closed.replace('', None))
        f['hours'], f['fees'] = f.hours.astype(int), f.fees.str.replace(',', '').astype(int)
        return f
    if name == CLINIC:
        out = []
        for sheet, f in pd.read_excel(path, sheet_name=None, skiprows=2).items():
            f.columns = ['code', 'dept', 'head', 'doctors', 'q1', 'q2', 'q3', 'q4', 'all']
            total, f = f[f.code == '合计'].iloc[0], f[f.code != '合计'].copy()
            for c in ['q1', 'q2', 'q3', 'q4', 'all']:
                assert f[c].sum() == total[c]
            assert (f[['q1', 'q2', 'q3', 'q4']].sum(axis=1) == f['all']).all()
            out.append(f.assign(year=int(sheet[:4])))
        return pd.concat(out)
    f = pd.read_csv(path, parse_dates=['生产日期', '复检日期'])
    f.columns = ['lot', 'date', 'machine', 'product', 'material', 'shift', 'made', 'bad', 'flaw', 'by', 'again']
    return f


def best(frame, column, label, low=False):
    """The label of the one row with the highest (lowest) figure; a tie is a mistake of the question."""
    edge = frame[column].min() if low else frame[column].max()
    hit = frame[frame[column] == edge][label].tolist()
    assert len(hit) == 1, hit
    return hit[0]


def one(frame, column):
    assert len(frame) == 1, len(frame)
    return frame[column].iloc[0]


def topn(frame, column, label, n):
    order = frame.sort_values(column, ascending=False)
    assert order[column].is_unique or order[column].iloc[n - 1] > order[column].iloc[n]
    return order[label].head(n).tolist()


def group(series):
    """A grouped series as a frame with columns key and n."""
    return pd.DataFrame({'key': series.index, 'n': series.to_numpy()})


def day(stamp):
    """Accepted writings of a date."""
    d = pd.Timestamp(stamp)
    return list(dict.fromkeys([f'{d:%Y-%m-%d}', f'{d:%B} {d.day}, {d.year}', f'{d.day} {d:%B} {d.year}', f'{d.year}年{d.month}月{d.day}日', f'{d.year}/{d.month}/{d.day}', f'{d:%Y/%m/%d}']))


def dept(f, name, year):
    return f[(f.dept == name) & (f.year == year)]


# --- questions ---------------------------------------------------------------------------------------------
# (language, file, operation, kind, question, answer of the frame); a number that was divided carries the tolerance

pct = lambda part, whole: ('~', 100 * part / whole)
mean = lambda series: ('~', series.mean())
total = lambda series: round(float(series.sum()), 2)
count = lambda mask: int(mask.sum())
nothing = None

Q = [
    # sea surface temperatures
    ('en', NINO, 'lookup-month', 'number', 'el nino sea temps - what was it in March 1983?', lambda f: f.loc[1983, 'MAR']),
    ('en', NINO, 'max-year', 'number', 'Which year had the warmest December water in the El Nino records?', lambda f: best(f.reset_index(), 'DEC', 'YEAR')),
    ('en', NINO, 'mean-month', 'number', 'On average, how warm was the sea in January across all the El Nino years?', lambda f: mean(f.JAN)),
    ('en', NINO, 'count-bound', 'number', 'In how many years did the El Nino sea temperature for August stay below 20 degrees?', lambda f: count(f.AUG < 20)),
    ('en', NINO, 'max-month', 'text', "what month of 1998 was the sea hottest (el nino data)", lambda f: [(m := best(group(f.loc[1998, MONTHS]), 'n', 'key')), m.title(), {'MAR': 'March'}[m], '3月', '1998-03']),
    ('en', NINO, 'difference', 'number', 'How much warmer was the El Nino region\'s sea surface in July 1997 compared with July 1996?', lambda f: f.loc[1997, 'JUL'] - f.loc[1996, 'JUL']),
    ('zh', NINO, 'mean-row', 'number', '厄尔尼诺海面温度，2005年十二个月平均下来是多少度？', lambda f: mean(f.loc[2005, MONTHS])),
    ('zh', NINO, 'count-bound', 'number', '厄尔尼诺那份海温数据里，4月份海温超过27度的年份有几个？', lambda f: count(f.APR > 27)),
    # cars
    ('en', CARS, 'count-if', 'number', 'How many of the cars in the fuel economy list are Japanese?', lambda f: count(f.Origin == 'Japan')),
    ('en', CARS, 'max', 'text', "what's the heaviest car in the mpg data?", lambda f: [best(f, 'Weight_in_lbs', 'Name')]),
    ('en', CARS, 'mean-if', 'number', 'Average miles per gallon of the European cars?', lambda f: mean(f[f.Origin == 'Europe'].Miles_per_Gallon)),
    ('en', CARS, 'count-empty', 'number', 'For how many cars in the mpg file do we have no horsepower figure?', lambda f: count(f.Horsepower.isna())),
    ('en', CARS, 'count-if-2', 'number', 'How many eight-cylinder cars managed more than 18 mpg?', lambda f: count((f.Cylinders == 8) & (f.Miles_per_Gallon > 18))),
    ('en', CARS, 'median-if', 'number', 'Median weight of the four-cylinder cars, in pounds?', lambda f: f[f.Cylinders == 4].Weight_in_lbs.median()),
    ('en', CARS, 'compare', 'text', 'Were the Japanese or the European cars heavier on average?', lambda f: [(o := best(group(f[f.Origin.isin(['Japan', 'Europe'])].groupby('Origin').Weight_in_lbs.mean()), 'n', 'key')), {'Europe': 'European'}[o]]),
    ('en', CARS, 'none', 'none', 'Which car in the fuel economy data had the highest sticker price?', nothing),
    ('zh', CARS, 'max', 'text', '汽车油耗数据里马力最大的是哪辆车？', lambda f: [best(f, 'Horsepower', 'Name')]),
    ('zh', CARS, 'count-not', 'number', '油耗清单上1976年的车，不是美国产的有几辆？', lambda f: count((f.Year == 1976) & (f.Origin != 'USA'))),
    # crime
    ('en', CRIME, 'lookup', 'number', "What's the murder rate in Louisiana?", lambda f: one(f[f.state == 'Louisiana'], 'murder')),
    ('en', CRIME, 'min', 'text', 'Which US state has the least violent crime per head?', lambda f: [best(f, 'violent', 'state', low=True)]),
    ('en', CRIME, 'top', 'list', 'Give me the three states with the worst poverty', lambda f: topn(f, 'poverty', 'state', 3)),
    ('en', CRIME, 'count-bound', 'number', 'how many states had fewer than 250 violent crimes per 100,000 people in 2009?', lambda f: count(f.violent < 250)),
    ('en', CRIME, 'difference', 'number', "How many percentage points is Wyoming's share of high school graduates above that of Texas?", lambda f: one(f[f.state == 'Wyoming'], 'hs') - one(f[f.state == 'Texas'], 'hs')),
    ('en', CRIME, 'compare', 'text', 'Nevada or Utah - where does more of the population live in cities?', lambda f: [best(f[f.state.isin(['Nevada', 'Utah'])], 'urban', 'state')]),
    ('en', CRIME, 'none', 'none', 'How many police officers did Texas employ in 2009?', nothing),
    ('zh', CRIME, 'min', 'text', '美国各州里谋杀率最低的是哪个州？', lambda f: [(s := best(f, 'murder', 'state', low=True)), {'New Hampshire': '新罕布什尔'}[s]]),
    ('zh', CRIME, 'lookup', 'number', '得克萨斯州（Texas）每10万人有多少起暴力犯罪？', lambda f: one(f[f.state == 'Texas'], 'violent')),
    # service visits
    ('en', SERVICE, 'count-date', 'number', 'How many compressor service visits did we make between 1 April and 30 June 2024?', lambda f: count((f.date >= '2024-04-01') & (f.date <= '2024-06-30'))),
    ('en', SERVICE, 'sum-if', 'number', 'What did the parts for warranty jobs on compressors cost us altogether?', lambda f: total(f[f.warranty == 'yes'].parts)),
    ('en', SERVICE, 'max-group', 'text', 'Which technician spent the most hours on site?', lambda f: [best(group(f.groupby('tech').hours.sum()), 'n', 'key')]),
    ('en', SERVICE, 'lookup-code', 'text', 'what was wrong at visit SV-1037', lambda f: [one(f[f.no == 'SV-1037'], 'fault')]),
    ('en', SERVICE, 'count-empty', 'number', 'How many compressor service visits still have no closing date?', lambda f: count(f.closed.isna())),
    ('en', SERVICE, 'first-date', 'text', 'When did we first go out to Gable & Roe?', lambda f: day(f[f.customer == 'Gable & Roe'].date.min())),
    ('en', SERVICE, 'top-group', 'list', 'Top three customers by money invoiced for compressor service?', lambda f: topn(group(f.groupby('customer').invoice.sum()), 'n', 'key', 3)),
    ('zh', SERVICE, 'distinct', 'number', '压缩机上门服务一共服务过多少家不同的客户？', lambda f: f.customer.nunique()),
    ('zh', SERVICE, 'max', 'text', '压缩机服务里开票金额最高的那一单是哪个客户的？', lambda f: [best(f, 'invoice', 'customer')]),
    # law firm
    ('en', LAW, 'count-group', 'list', "How many of the law firm's matters fall in each practice area?", lambda f: [f'{k} {v}' for k, v in f.area.value_counts().items()]),
    ('en', LAW, 'sum-if', 'number', 'How much has the law firm billed on employment matters?', lambda f: f[f.area == 'Employment'].fees.sum()),
    ('en', LAW, 'latest', 'text', "Which client's matter did the law firm open most recently?", lambda f: [best(f, 'opened', 'client')]),
    ('en', LAW, 'count-if-2', 'number', 'How many legal matters that were settled took more than 100 hours?', lambda f: count((f.outcome == 'settled') & (f.hours > 100))),
    ('en', LAW, 'mean-if', 'number', 'How many hours does an arbitration matter take on average?', lambda f: mean(f[f.area == 'Arbitration'].hours)),
    ('en', LAW, 'none', 'none', 'Who was the opposing counsel in matter M-2211?', nothing),
    ('zh', LAW, 'share', 'number', '律所的案件里，由Tom Abbott负责的占全部案件的百分之几？', lambda f: pct(count(f.partner == 'Tom Abbott'), len(f))),
    ('zh', LAW, 'lookup-code', 'text', '律所M-2214号案件是哪天立案的？', lambda f: day(one(f[f.no == 'M-2214'], 'opened'))),
    # weather
    ('zh', WEATHER, 'count-if', 'number', '西雅图2012到2015这四年里天气是雪的一共有几天？', lambda f: count(f.kind == '雪')),
    ('zh', WEATHER, 'max', 'text', '西雅图最热的一天是哪天？', lambda f: day(best(f, 'high', 'date'))),
    ('zh', WEATHER, 'sum-year', 'number', '2014年西雅图全年降水总共多少毫米？', lambda f: total(f[f.year == 2014].rain)),
    ('zh', WEATHER, 'difference', 'number', '西雅图2015年的总降水量比2013年多了多少毫米？', lambda f: total(f[f.year == 2015].rain) - total(f[f.year == 2013].rain)),
    ('zh', WEATHER, 'mean-month', 'number', '西雅图2013年7月平均每天最高气温是多少度？', lambda f: mean(f[(f.year == 2013) & (f.month == 7)].high)),
    ('zh', WEATHER, 'count-bound', 'number', '2013年西雅图有多少天最低气温跌到零度以下（不含零度）？', lambda f: count((f.year == 2013) & (f.low < 0))),
    ('zh', WEATHER, 'max', 'text', '西雅图哪一天下雨下得最多？', lambda f: day(best(f, 'rain', 'date'))),
    ('zh', WEATHER, 'share', 'number', '西雅图2012年里晴天占了百分之几？', lambda f: pct(count((f.year == 2012) & (f.kind == '晴')), count(f.year == 2012))),
    ('zh', WEATHER, 'max-month', 'number', '2015年8月西雅图风最大的那天，风速是多少？', lambda f: f[(f.year == 2015) & (f.month == 8)].wind.max()),
    ('zh', WEATHER, 'none', 'none', '西雅图2014年的平均湿度是多少？', nothing),
    ('en', WEATHER, 'count-if-2', 'number', 'How many foggy days did Seattle have in 2015?', lambda f: count((f.year == 2015) & (f.kind == '雾'))),
    ('en', WEATHER, 'max-group', 'number', 'Which year was the wettest in Seattle?', lambda f: best(group(f.groupby('year').rain.sum()), 'n', 'key')),
    # hospital
    ('zh', CLINIC, 'lookup-quarter', 'number', '儿科2024年第三季度看了多少门诊病人？', lambda f: one(dept(f, '儿科', 2024), 'q3')),
    ('zh', CLINIC, 'sum', 'number', '医院2024年全年门诊总共多少人次？', lambda f: f[f.year == 2024]['all'].sum()),
    ('zh', CLINIC, 'min-year', 'text', '2024年全年门诊最少的是哪个科室？', lambda f: [best(f[f.year == 2024], 'all', 'dept', low=True)]),
    ('zh', CLINIC, 'growth', 'number', '骨科2024年的全年门诊量比2023年增长了百分之几？', lambda f: pct(one(dept(f, '骨科', 2024), 'all') - one(dept(f, '骨科', 2023), 'all'), one(dept(f, '骨科', 2023), 'all'))),
    ('zh', CLINIC, 'count-bound', 'number', '2023年第一季度门诊量在10000人次以上的科室有几个？', lambda f: count((f.year == 2023) & (f.q1 > 10000))),
    ('zh', CLINIC, 'top', 'list', '2024年全年门诊量排前三的科室是哪些？', lambda f: topn(f[f.year == 2024], 'all', 'dept', 3)),
    ('zh', CLINIC, 'lookup-code', 'text', '医院里科室代码K07是哪个科？', lambda f: sorted(set(f[f.code == 'K07'].dept))),
    ('zh', CLINIC, 'lookup-empty', 'text', '2024年哪个科室没有填科主任？', lambda f: [one(f[(f.year == 2024) & f['head'].isna()], 'dept')]),
    ('zh', CLINIC, 'compare', 'text', '眼科和口腔科，2023年第一季度谁的门诊多？', lambda f: [best(f[(f.year == 2023) & f.dept.isin(['眼科', '口腔科'])], 'q1', 'dept')]),
    ('zh', CLINIC, 'share', 'number', '皮肤科2024年第四季度的门诊量占它全年的百分之多少？', lambda f: pct(one(dept(f, '皮肤科', 2024), 'q4'), one(dept(f, '皮肤科', 2024), 'all'))),
    ('en', CLINIC, 'lookup-quarter', 'number', 'How many outpatients did the hospital\'s cardiology department see in the second quarter of 2023?', lambda f: one(dept(f, '心内科', 2023), 'q2')),
    ('en', CLINIC, 'count-bound', 'number', 'In 2024, how many hospital departments had more than 15 doctors?', lambda f: count((f.year == 2024) & (f.doctors > 15))),
    # moulding
    ('zh', MOULD, 'count-group', 'list', '注塑车间早班、中班、夜班各检验了多少批？', lambda f: [f'{k} {v}' for k, v in f['shift'].value_counts().items()]),
    ('zh', MOULD, 'sum-if', 'number', '注塑夜班的不良品总共多少件？', lambda f: f[f['shift'] == '夜班'].bad.sum()),
    ('zh', MOULD, 'max-group', 'text', '哪台注塑机累计出的不良品最多？', lambda f: [best(group(f.groupby('machine').bad.sum()), 'n', 'key')]),
    ('zh', MOULD, 'count-if', 'number', '主要毛病是飞边的有几批？', lambda f: count(f.flaw == '飞边')),
    ('zh', MOULD, 'sum-date', 'number', '注塑车间2024年3月一共生产了多少件？', lambda f: f[f.date.dt.month == 3].made.sum()),
    ('zh', MOULD, 'lookup-code', 'text', '批号ZS-2404-05用的是什么料？', lambda f: [one(f[f.lot == 'ZS-2404-05'], 'material')]),
    ('zh', MOULD, 'ratio', 'number', '灯罩这个产品的总不良率是百分之几（不良数合计除以产量合计）？', lambda f: pct(f[f['product'] == '灯罩'].bad.sum(), f[f['product'] == '灯罩'].made.sum())),
    ('zh', MOULD, 'count-empty', 'number', '注塑记录里复检日期还空着的有多少批？', lambda f: count(f.again.isna())),
    ('zh', MOULD, 'distinct', 'number', '注塑车间的检验记录上一共有几位不同的检验员？', lambda f: f.by.nunique()),
    ('zh', MOULD, 'none', 'none', '哪台注塑机最耗电？', nothing),
    ('en', MOULD, 'count-not', 'number', 'How many injection moulding batches were made from something other than ABS?', lambda f: count(f.material != 'ABS')),
    ('en', MOULD, 'latest-date', 'text', 'When was the last night shift batch produced in the injection moulding shop?', lambda f: day(f[f['shift'] == '夜班'].date.max())),
]


# --- answers -----------------------------------------------------------------------------------------------

def plain(value):
    if isinstance(value, str):
        return value
    if float(value) == int(value):
        return str(int(value))
    return f'{float(value):.4f}'.rstrip('0').rstrip('.')


def build():
    out = []
    for n, (lang, file, op, kind, text, answer) in enumerate(Q, 1):
        row = {'id': f'x{n:03d}', 'question': text, 'language': lang, 'files': [file], 'operation': op}
        value = [] if kind == 'none' else answer(table(file))
        if op == 'count-group':                             # the figures alone have to occur
            value = [v.rsplit(' ', 1)[1] for v in value]
        if isinstance(value, tuple):
            row |= {'answers': [plain(value[1])], 'kind': kind, 'tolerance': TOL}
        else:
            row |= {'answers': [plain(v) for v in value] if isinstance(value, list) else [plain(value)], 'kind': kind}
        out.append(row)
    return out


def check(rows):
    """What a set must have, besides that the answers agree."""
    chinese = re.compile(r'[\u4e00-\u9fff]')
    assert len(rows) == len({r['question'] for r in rows}) == 80, len(rows)
    assert Counter(r['language'] for r in rows) == {'en': 40, 'zh': 40}, Counter(r['language'] for r in rows)
    assert sum(r['kind'] == 'none' for r in rows) == 5
    for r in rows:
        assert bool(chinese.search(r['question'])) == (r['language'] == 'zh'), r
        assert bool(r['answers']) == (r['kind'] != 'none'), r
        if r['kind'] == 'number':
            assert len(r['answers']) == 1 and float(r['answers'][0]) > 0, r
        if r['kind'] == 'list':
            assert len(r['answers']) > 1, r
    assert {r['files'][0] for r in rows} == {p.name for p in DOCS.iterdir()}
    zh_en = sum(r['language'] == 'zh' and not chinese.search(r['files'][0]) for r in rows)
    en_zh = sum(r['language'] == 'en' and bool(chinese.search(r['files'][0])) for r in rows)
    assert (zh_en, en_zh) == (10, 6), (zh_en, en_zh)
    sizes = {NINO: 61, CARS: 406, CRIME: 51, WEATHER: 1461, SERVICE: 72, LAW: 28, CLINIC: 34, MOULD: 84}
    for name, size in sizes.items():
        assert len(table(name)) == size, (name, len(table(name)))
    print(len(rows), 'questions;', dict(Counter(r['language'] for r in rows)), dict(Counter(r['kind'] for r in rows)), 'Chinese over English:', zh_en, 'English over Chinese:', en_zh)


if __name__ == '__main__':
    rows = build()
    if '--write' in sys.argv:
        QUESTIONS.write_text(''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in rows), encoding='utf-8')
    check(rows)
    stored = [json.loads(line) for line in QUESTIONS.read_text(encoding='utf-8').splitlines()]
    bad = [(a, b) for a, b in zip(rows, stored) if a != b]
    for a, b in bad:
        print('differs:', a['id'], a['answers'], b['answers'])
    sys.exit(1 if bad or len(rows) != len(stored) else 0)
