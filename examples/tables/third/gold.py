"""Gold answers of the table questions of this third set, computed from docs/ with pandas.

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

PIZZA, CARS, DISASTER = '披萨门店销售明细.csv', '进口跑车价目表.csv', '全球自然灾害死亡人数.csv'
MONTREAL, BAKE, SLEEP, MIDWEST = 'montreal_mayor_2013.csv', 'bake_off_contestants.csv', 'mammal_sleep.csv', 'midwest_counties.csv'
CRIMEA, PRES, ONTARIO, TRAP, ORGAN = 'crimea_army_mortality.md', 'us_presidents.html', 'ontario_municipalities.xlsx', 'portal_trapping_2001.csv', 'organ_donor_registration.csv'


# --- reading -----------------------------------------------------------------------------------------------

@cache
def table(name):
    path = DOCS / name
    if name == MONTREAL:
        f = pd.read_csv(path, skiprows=2)
        total, f = f[f.District == 'Total'].iloc[0], f[f.District != 'Total'].copy()
        for c in ['Coderre', 'Bergeron', 'Joly', 'Total']:
            assert f[c].sum() == total[c]
            f[c] = f[c].astype(int)
        return f
    if name == CRIMEA:
        rows = [[c.strip() for c in line.strip().strip('|').split('|')] for line in path.read_text(encoding='utf-8').splitlines() if line.startswith('|')]
        f = pd.DataFrame(rows[2:], columns=['month', 'strength', 'disease', 'wounds', 'other'])
        for c in f.columns[1:]:
            f[c] = f[c].str.replace(',', '').astype(int)
        f['date'] = pd.to_datetime(f.month, format='%B %Y')
        return f
    if name == PRES:
        f = pd.read_html(path)[0]
        f['from'], f['to'] = pd.to_datetime(f['Took office']), pd.to_datetime(f['Left office'])
        return f
    if name == ONTARIO:
        return pd.read_excel(path)
    f = pd.read_csv(path, keep_default_na=False, na_values=[''])
    if name == PIZZA:
        f.columns = ['order', 'date', 'time', 'name', 'size_', 'type', 'price']
        f['date'] = pd.to_datetime(f.date)
    if name == CARS:
        f.columns = ['mfr', 'model', 'year', 'body', 'hp', 'trq', 'city', 'hwy', 'drive', 'trsmn', 'origin', 'price']
    if name == DISASTER:
        f.columns = ['type', 'year', 'deaths']
    if name == BAKE:
        for c in ['First appearance', 'Last appearance']:
            f[c] = pd.to_datetime(f[c], format='%d/%m/%Y')
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
    assert order[column].iloc[n - 1] > order[column].iloc[n]
    return order[label].head(n).tolist()


def day(stamp):
    """Accepted writings of a date."""
    stamp = pd.Timestamp(stamp)
    return [f'{stamp:%Y-%m-%d}', f'{stamp:%B} {stamp.day}, {stamp.year}', f'{stamp.day} {stamp:%B} {stamp.year}', f'{stamp.year}年{stamp.month}月{stamp.day}日', f'{stamp.year}/{stamp.month}/{stamp.day}']


# --- questions ---------------------------------------------------------------------------------------------
# (language, file, operation, kind, question, answer of the frame); a number that was divided carries the tolerance

pct = lambda part, whole: ('~', 100 * part / whole)
mean = lambda series: ('~', series.mean())
count = lambda mask: int(mask.sum())
nothing = None

Q = [
    # pizza, Chinese over Chinese
    ('zh', PIZZA, 'count', 'number', '门店这份明细里总共卖出了多少个披萨？', lambda f: len(f)),
    ('zh', PIZZA, 'count-group', 'list', '四大类披萨分别卖了多少个？', lambda f: f.type.value_counts().tolist()),
    ('zh', PIZZA, 'count-if-2', 'number', '鸡肉披萨里面，大号（L）的卖了几个？', lambda f: count((f.type == '鸡肉') & (f.size_ == 'L'))),
    ('zh', PIZZA, 'sum', 'number', '披萨店这些订单一共收了多少美元？', lambda f: round(f.price.sum(), 2)),
    ('zh', PIZZA, 'sum-date', 'number', '2015年3月1日那天，披萨的销售额是多少？', lambda f: round(f[f.date == '2015-03-01'].price.sum(), 2)),
    ('zh', PIZZA, 'sum-date', 'number', '第四季度披萨一共卖了多少钱？', lambda f: round(f[f.date.dt.month >= 10].price.sum(), 2)),
    ('zh', PIZZA, 'max-group', 'text', '哪一天卖出去的披萨最多？', lambda f: day(best(f.groupby('date').size().rename('n').reset_index(), 'n', 'date')) + ['10月1日']),
    ('zh', PIZZA, 'mean-if', 'number', '夏威夷披萨平均多少钱一个？', lambda f: mean(f[f.name == '夏威夷披萨'].price)),
    ('zh', PIZZA, 'tie', 'list', '销量最高的是哪款披萨？如果并列请都列出来', lambda f: sorted((n := f.name.value_counts())[n == n.max()].index)),
    ('zh', PIZZA, 'count-not', 'number', '除了经典类以外，其他披萨一共卖了多少个？', lambda f: count(f.type != '经典')),
    ('zh', PIZZA, 'share', 'number', '中号（M）的披萨占全部销量的百分之几？', lambda f: pct(count(f.size_ == 'M'), len(f))),
    ('zh', PIZZA, 'count-time', 'number', '晚上8点以后下单的披萨有多少个？', lambda f: (count(f.time > '20:00:00'), count(f.time >= '20:00:00'))),
    ('zh', PIZZA, 'none', 'none', '哪位店员卖出的披萨最多？', nothing),
    # English over Chinese
    ('en', PIZZA, 'sum-if', 'number', 'How much money did the supreme pizzas bring in?', lambda f: round(f[f.type == '至尊'].price.sum(), 2)),
    ('en', PIZZA, 'count-if', 'number', 'How many XL pizzas did the shop sell?', lambda f: count(f.size_ == 'XL')),
    ('en', PIZZA, 'distinct', 'number', 'How many different orders are there in the pizza sales ledger?', lambda f: f.order.nunique()),
    # cars
    ('zh', CARS, 'count-if', 'number', '价目表上德国产的跑车有几款？', lambda f: count(f.origin == '德国')),
    ('zh', CARS, 'min-if', 'text', '法拉利里面最便宜的是哪一款？', lambda f: best(f[f.mfr == '法拉利'], 'price', 'model', low=True)),
    ('zh', CARS, 'lookup', 'number', '保时捷911要卖多少美元？', lambda f: one(f[(f.mfr == '保时捷') & (f.model == '911')], 'price')),
    ('zh', CARS, 'mean-if', 'number', '四驱的跑车平均有多少马力？', lambda f: mean(f[f.drive == '四驱'].hp)),
    ('zh', CARS, 'max-group', 'text', '哪个牌子的跑车在价目表里款数最多？', lambda f: best(f.groupby('mfr').size().rename('n').reset_index(), 'n', 'mfr')),
    ('zh', CARS, 'list', 'list', '有哪些跑车标价超过30万美元？', lambda f: f[f.price > 300000].model.tolist()),
    ('zh', CARS, 'difference', 'number', '兰博基尼的Aventador比Huracan贵多少钱？', lambda f: one(f[f.model == 'Aventador'], 'price') - one(f[f.model == 'Huracan'], 'price')),
    ('zh', CARS, 'compare', 'text', '意大利车和英国车，哪国的平均马力更大？', lambda f: best(f[f.origin.isin(['意大利', '英国'])].groupby('origin').hp.mean().reset_index(), 'hp', 'origin')),
    ('zh', CARS, 'median', 'number', '这批进口跑车售价的中位数是多少？', lambda f: f.price.median()),
    ('zh', CARS, 'top', 'list', '马力最大的前三款跑车是哪些？', lambda f: topn(f, 'hp', 'model', 3)),
    ('zh', CARS, 'none', 'none', '哪款跑车百公里加速最快？', nothing),
    ('en', CARS, 'count-if', 'number', 'How many convertibles are on the sports car price list?', lambda f: count(f.body == '敞篷')),
    ('en', CARS, 'max', 'text', 'Which sports car gets the most miles per gallon in the city?', lambda f: best(f, 'city', 'model')),
    ('en', CARS, 'lookup-empty', 'text', 'For which sports car is the city mileage missing?', lambda f: [one(f[f.city.isna()], 'model')]),
    # disasters
    ('zh', DISASTER, 'lookup', 'number', '2010年死于地震的有多少人？', lambda f: one(f[(f.type == '地震') & (f.year == 2010)], 'deaths')),
    ('zh', DISASTER, 'max-if', 'number', '哪一年洪水造成的遇难者最多？', lambda f: best(f[f.type == '洪水'], 'deaths', 'year')),
    ('zh', DISASTER, 'sum-date', 'number', '2000年以来（含2000年）野火一共夺走了多少人的生命？', lambda f: f[(f.type == '野火') & (f.year >= 2000)].deaths.sum()),
    ('zh', DISASTER, 'max-if', 'text', '2004年哪一种灾害死的人最多？', lambda f: best(f[(f.year == 2004) & (f.type != '全部自然灾害')], 'deaths', 'type')),
    ('zh', DISASTER, 'lookup', 'number', '2015年全球因自然灾害死亡的总人数是多少？', lambda f: one(f[(f.type == '全部自然灾害') & (f.year == 2015)], 'deaths')),
    ('zh', DISASTER, 'count-if-2', 'number', '死亡超过10万人的疫情年份有几个？', lambda f: count((f.type == '疫情') & (f.deaths > 100000))),
    ('zh', DISASTER, 'tie', 'list', '疫情死亡人数最高的是哪一年？并列的都要', lambda f: (e := f[f.type == '疫情'])[e.deaths == e.deaths.max()].year.tolist()),
    ('en', DISASTER, 'lookup', 'number', 'How many people died in droughts in 1943?', lambda f: one(f[(f.type == '干旱') & (f.year == 1943)], 'deaths')),
    ('en', DISASTER, 'difference', 'number', 'How many more people were killed by extreme temperatures in 2003 than in 2010?', lambda f: one(f[(f.type == '极端气温') & (f.year == 2003)], 'deaths') - one(f[(f.type == '极端气温') & (f.year == 2010)], 'deaths')),
    ('en', DISASTER, 'none', 'none', 'How much economic damage in dollars did the floods of 2010 cause?', nothing),
    # Montreal
    ('en', MONTREAL, 'count-if', 'number', 'How many districts did Coderre carry in the Montreal mayoral race?', lambda f: count(f.Winner == 'Coderre')),
    ('en', MONTREAL, 'lookup', 'number', 'How many votes did Joly get in Peter-McGill?', lambda f: one(f[f.District == 'Peter-McGill'], 'Joly')),
    ('en', MONTREAL, 'max', 'text', 'Which Montreal district cast the most votes?', lambda f: best(f, 'Total', 'District')),
    ('en', MONTREAL, 'count-if-2', 'number', 'How many districts did Bergeron win with an outright majority?', lambda f: count((f.Winner == 'Bergeron') & (f.Result == 'majority'))),
    ('en', MONTREAL, 'difference', 'number', 'By how many votes did Coderre beat Joly across the whole city?', lambda f: f.Coderre.sum() - f.Joly.sum()),
    ('zh', MONTREAL, 'total', 'number', '蒙特利尔市长选举一共投了多少张票？', lambda f: f.Total.sum()),
    ('zh', MONTREAL, 'share', 'number', '在蒙特利尔的选举中，Bergeron赢下的选区占全部选区的百分之多少？', lambda f: pct(count(f.Winner == 'Bergeron'), len(f))),
    # Bake Off
    ('en', BAKE, 'max', 'text', 'Who was the oldest Bake Off contestant?', lambda f: best(f, 'Age', 'Baker')),
    ('en', BAKE, 'count-date', 'number', 'How many bakers made their debut in 2014?', lambda f: count(f['First appearance'].dt.year == 2014)),
    ('en', BAKE, 'lookup', 'text', 'Who won the seventh series of Bake Off?', lambda f: one(f[(f.Series == 7) & (f['Series winner'] == 'yes')], 'Baker')),
    ('en', BAKE, 'median', 'number', "What's the median age of the Bake Off bakers?", lambda f: f.Age.median()),
    ('en', BAKE, 'count-empty', 'number', 'For how many bakers is the date of the first appearance missing?', lambda f: count(f['First appearance'].isna())),
    ('en', BAKE, 'none', 'none', 'How much prize money did Nancy Birtwhistle take home?', nothing),
    ('zh', BAKE, 'max', 'text', '烘焙大赛里哪位选手赢得技术挑战的次数最多？', lambda f: best(f, 'Technical wins', 'Baker')),
    # sleep
    ('en', SLEEP, 'max', 'text', 'Which mammal sleeps the most?', lambda f: best(f, 'sleep_total', 'name')),
    ('en', SLEEP, 'count-if', 'number', 'How many plant-eating species (herbi) are in the sleep data?', lambda f: count(f.vore == 'herbi')),
    ('en', SLEEP, 'count-empty', 'number', 'How many mammals have no brain weight on record?', lambda f: count(f.brainwt.isna())),
    ('zh', SLEEP, 'lookup', 'number', 'Giraffe每天一共睡几个小时？', lambda f: one(f[f.name == 'Giraffe'], 'sleep_total')),
    # Midwest
    ('en', MIDWEST, 'max', 'text', 'Which Midwest county has the largest population?', lambda f: best(f, 'poptotal', 'county')),
    ('en', MIDWEST, 'sum-if', 'number', 'How many people live in all the Ohio (OH) counties together?', lambda f: f[f.state == 'OH'].poptotal.sum()),
    ('en', MIDWEST, 'count-group', 'list', 'How many counties are there per state in the Midwest file?', lambda f: f.state.value_counts().tolist()),
    ('en', MIDWEST, 'lookup-2', 'number', 'How many Asian residents does Cook County, IL have?', lambda f: one(f[(f.state == 'IL') & (f.county == 'Cook')], 'popasian')),
    ('zh', MIDWEST, 'count-if-2', 'number', 'IL州有多少个县的总人口超过10万？', lambda f: count((f.state == 'IL') & (f.poptotal > 100000))),
    ('zh', MIDWEST, 'max-if', 'text', '印第安纳州（IN）贫困率最高的是哪个县？', lambda f: best(f[f.state == 'IN'], 'percbelowpoverty', 'county')),
    # Crimea
    ('en', CRIMEA, 'max', 'text', 'In which month did disease kill the most British soldiers?', lambda f: [m := best(f, 'disease', 'month'), '1855-01', '1855年1月']),
    ('en', CRIMEA, 'sum-date', 'number', 'How many soldiers in the Crimea died of disease in the whole of 1855?', lambda f: f[f.date.dt.year == 1855].disease.sum()),
    ('en', CRIMEA, 'lookup', 'number', 'How strong was the British Army in the East in June 1855?', lambda f: one(f[f.month == 'June 1855'], 'strength')),
    ('en', CRIMEA, 'none', 'none', 'How many nurses worked at the Scutari hospital in 1855?', nothing),
    ('zh', CRIMEA, 'sum-date', 'number', '克里米亚战争中，1854年一共有多少英军士兵死于战伤？', lambda f: f[f.date.dt.year == 1854].wounds.sum()),
    # presidents
    ('en', PRES, 'lookup', 'text', 'When did Richard Nixon step down as president?', lambda f: day(one(f[f.President == 'Richard Nixon'], 'to'))),
    ('en', PRES, 'count-if', 'number', 'How many of the listed presidents were Democrats?', lambda f: count(f.Party == 'Democratic')),
    ('en', PRES, 'list-date', 'list', 'Which presidents came into office after the year 2000?', lambda f: f[f['from'] > '2000-12-31'].President.tolist()),
    ('zh', PRES, 'lookup', 'text', 'Jimmy Carter是哪个党的总统？', lambda f: [one(f[f.President == 'Jimmy Carter'], 'Party'), '民主党']),
    ('zh', PRES, 'none', 'none', 'John F. Kennedy就任总统时多大年纪？', nothing),
    # Ontario
    ('en', ONTARIO, 'lookup', 'number', "What was Ottawa's population in 2021?", lambda f: one(f[f.Municipality == 'Ottawa'], 'Population 2021')),
    ('en', ONTARIO, 'count-if', 'number', 'How many townships are there in Ontario?', lambda f: count(f.Type == 'township')),
    ('en', ONTARIO, 'top', 'list', 'Name the three most populous Ontario municipalities in 2021.', lambda f: topn(f, 'Population 2021', 'Municipality', 3)),
    ('en', ONTARIO, 'max-if', 'text', 'Which Ontario village covers the largest area?', lambda f: best(f[f.Type == 'village'], 'Land area (km²)', 'Municipality')),
    ('en', ONTARIO, 'none', 'none', 'Who is the mayor of Mississauga?', nothing),
    ('zh', ONTARIO, 'difference', 'number', 'Brampton的人口从2016年到2021年增加了多少？', lambda f: one(f[f.Municipality == 'Brampton'], 'Population 2021') - one(f[f.Municipality == 'Brampton'], 'Population 2016')),
    ('zh', ONTARIO, 'count-if-2', 'number', '安大略省的city里面，属于single-tier的有多少个？', lambda f: count((f.Type == 'city') & (f.Tier == 'single-tier'))),
    # trapping
    ('en', TRAP, 'count-if', 'number', 'How many DM were trapped at Portal in 2001?', lambda f: count(f.species_id == 'DM')),
    ('en', TRAP, 'mean-if-2', 'number', 'How heavy are male PB on average?', lambda f: mean(f[(f.species_id == 'PB') & (f.sex == 'M')].weight)),
    ('en', TRAP, 'count-if-2', 'number', 'How many animals were caught on Control plots in August?', lambda f: count((f.plot_type == 'Control') & (f.month == 8))),
    ('zh', TRAP, 'count-empty', 'number', 'Portal诱捕记录里有多少条没有登记性别？', lambda f: count(f.sex.isna())),
    # organ donors
    ('en', ORGAN, 'min-if', 'text', 'Which state had the lowest organ donor registration rate in Q42011?', lambda f: best(f[f.Quarter == 'Q42011'], 'Rate', 'State', low=True)),
    ('en', ORGAN, 'difference', 'number', "How much did Michigan's organ donor rate rise from the fourth quarter of 2010 to the first quarter of 2012?", lambda f: round(one(f[(f.State == 'Michigan') & (f.Quarter == 'Q12012')], 'Rate') - one(f[(f.State == 'Michigan') & (f.Quarter == 'Q42010')], 'Rate'), 4)),
    ('en', ORGAN, 'none', 'none', 'How many patients in California are waiting for a kidney transplant?', nothing),
    ('zh', ORGAN, 'list', 'list', '2011年第三季度，哪些州的器官捐献登记率超过0.6？', lambda f: f[(f.Quarter == 'Q32011') & (f.Rate > 0.6)].State.tolist()),
    ('zh', ORGAN, 'mean-if', 'number', 'Ohio的器官捐献登记率平均是多少？', lambda f: mean(f[f.State == 'Ohio'].Rate)),
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
        row = {'id': f'c{n:03d}', 'question': text, 'language': lang, 'files': [file], 'operation': op}
        if kind == 'none':
            row |= {'answers': [], 'kind': kind}
            out.append(row)
            continue
        value = answer(table(file))
        if isinstance(value, tuple) and value[0] == '~':
            row |= {'answers': [plain(value[1])], 'kind': kind, 'tolerance': TOL}
        elif isinstance(value, tuple):                      # two readings that must agree
            assert len(set(value)) == 1, (text, value)
            row |= {'answers': [plain(value[0])], 'kind': kind}
        else:
            row |= {'answers': [plain(v) for v in value] if isinstance(value, list) else [plain(value)], 'kind': kind}
        out.append(row)
    return out


def check(rows):
    """What a set must have, besides that the answers agree."""
    chinese = re.compile(r'[\u4e00-\u9fff]')
    assert len(rows) == len({r['question'] for r in rows}) == 90, len(rows)
    for r in rows:
        assert bool(chinese.search(r['question'])) == (r['language'] == 'zh'), r
        assert (DOCS / r['files'][0]).exists(), r
        assert bool(r['answers']) == (r['kind'] != 'none'), r
        if r['kind'] == 'number':
            assert len(r['answers']) == 1 and float(r['answers'][0]) > 0, r
        if r['kind'] == 'list':
            assert len(r['answers']) > 1, r
        if r['kind'] in ('text', 'list') and r['operation'] not in ('max-group', 'lookup', 'max', 'count-group'):
            raw = (DOCS / r['files'][0])
            if raw.suffix != '.xlsx':
                assert all(a in raw.read_text(encoding='utf-8') for a in r['answers']), r
    assert {r['files'][0] for r in rows} == {p.name for p in DOCS.iterdir()}
    cross = sum((r['language'] == 'zh') != bool(chinese.search(r['files'][0])) for r in rows)
    print(len(rows), 'questions;', dict(Counter(r['language'] for r in rows)), dict(Counter(r['kind'] for r in rows)), 'other language than the table:', cross)
    sizes = {PIZZA: 1811, CARS: 47, DISASTER: 803, MONTREAL: 58, BAKE: 120, SLEEP: 83, MIDWEST: 437, CRIMEA: 24, PRES: 12, ONTARIO: 414, TRAP: 1610, ORGAN: 162}
    for name, size in sizes.items():
        assert len(table(name)) == size, (name, len(table(name)))
    # totals given by the tables themselves
    d = table(DISASTER)
    parts = d[d.type != '全部自然灾害'].groupby('year').deaths.sum()
    whole = d[d.type == '全部自然灾害'].set_index('year').deaths
    for year in (2004, 2010, 2015):
        assert parts[year] == whole[year], (year, parts[year], whole[year])


if __name__ == '__main__':
    rows = build()
    lines = ''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in rows)
    if '--write' in sys.argv:
        QUESTIONS.write_text(lines, encoding='utf-8')
    check(rows)
    stored = [json.loads(line) for line in QUESTIONS.read_text(encoding='utf-8').splitlines()]
    bad = [(a, b) for a, b in zip(rows, stored) if a != b]
    for a, b in bad:
        print('differs:', a, b)
    sys.exit(1 if bad or len(rows) != len(stored) else 0)
