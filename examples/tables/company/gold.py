"""Gold answers of the company set, computed from docs/ with pandas (nothing of make_docs.py is used).

python3 gold.py --check   recomputes every answer, compares it with questions.jsonl, and checks the set itself (exit 1 on a difference)
python3 gold.py --write   writes questions.jsonl
Needs: pandas, openpyxl.
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
TOL = 0.01
WO, INV, EN, TRIAL, TRAIN = 'maintenance_work_orders.csv', 'supplier_invoices_2024.xlsx', 'energy_meters_2023_2024.xlsx', 'trial_sites_CARDIA-3.xlsx', 'training_records.csv'
HT, WX, XS, PO, LAW = '合同台账.xlsx', '医院设备维修记录.csv', '销售月报2024.xlsx', '采购订单明细.xlsx', '律所历年案件统计.xlsx'
SIZES = {WO: 287, INV: 158, EN: 66, TRIAL: 44, TRAIN: 287, HT: 134, WX: 226, XS: 24, PO: 218, LAW: 36}
MON = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()
LONG = 'January February March April May June July August September October November December'.split()
YUE = [f'{m}月' for m in range(1, 13)]


@cache
def table(name):
    path = DOCS / name
    if name == WO:
        f = pd.read_csv(path, sep=';', decimal=',', thousands='.', dtype={'Raised on': str, 'Finished on': str})
        f.columns = ['no', 'raised', 'line', 'machine', 'kind', 'prio', 'tech', 'done', 'status', 'hours', 'parts', 'safety']
        for c in ('raised', 'done'):
            f[c] = pd.to_datetime(f[c], format='%d.%m.%Y')
        assert f.hours.max() < 30 and f.parts.dtype == float
    if name == INV:
        f = pd.read_excel(path, header=3)
        f.columns = ['no', 'supplier', 'centre', 'date', 'due', 'paid', 'amount', 'disputed']
        total = f[f.no == 'Total'].amount.iloc[0]
        f = f[f.no.astype(str).str.startswith('SI-')].copy()
        assert abs(f.amount.sum() - total) < .01
        for c in ('date', 'due', 'paid'):
            f[c] = pd.to_datetime(f[c])
        f['amount'] = f.amount.astype(float)
    if name == EN:
        both = []
        for year in ('2023', '2024'):
            g = pd.read_excel(path, sheet_name=year, header=1)
            total, g = g[g.Plant == 'All plants'].iloc[0], g[g.Plant != 'All plants'].assign(year=int(year))
            assert (abs(g[MON].sum(axis=1) - g.Total) < .06).all() and abs(g.Total.sum() - total.Total) < .1
            both.append(g)
        f = pd.concat(both, ignore_index=True)
    if name == TRIAL:
        f = pd.read_excel(path, header=1)
        f.columns = ['no', 'hospital', 'country', 'planned', 'screened', 'randomised', 'dropped', 'signed', 'budget', 'active', 'status']
    if name == TRAIN:
        f = pd.read_csv(path, parse_dates=['Completed', 'Valid until'])
        f.columns = ['rec', 'id', 'name', 'dept', 'course', 'format', 'date', 'valid', 'score', 'passed', 'fee']
        assert not f.duplicated(['id', 'course']).any() and f.id.nunique() == f.name.nunique()
    if name == HT:
        f = pd.read_excel(path, header=2)
        f.columns = ['no', 'name', 'kind', 'party', 'signed', 'end', 'total', 'settled', 'dept', 'frame', 'status', 'filed']
        whole = f[f.no == '合计'].iloc[0]
        f = f[f.no.astype(str).str.startswith('HT-')].copy()
        assert abs(f.total.sum() - whole.total) < .01
        f['signed'] = pd.to_datetime(f.signed)
    if name == WX:
        f = pd.read_csv(path)
        f.columns = ['no', 'raised', 'dept', 'gear', 'brand', 'fault', 'way', 'done', 'status', 'down', 'cost', 'warranty', 'who']
        for c in ('raised', 'done'):
            f[c] = pd.to_datetime(f[c], format='%Y/%m/%d')
    if name == XS:
        f = pd.read_excel(path, header=2)
        total, f = f[f['大区'] == '合计'].iloc[0], f[f['大区'] != '合计'].copy()
        f['大区'] = f['大区'].ffill()
        f[YUE] = f[YUE].astype(float)
        assert (abs(f[YUE].sum(axis=1) - f['全年合计']) < .06).all() and abs(f['全年合计'].sum() - total['全年合计']) < .1
    if name == PO:
        f = pd.concat([pd.read_excel(path, sheet_name=f'{y}年').assign(year=y) for y in (2023, 2024)], ignore_index=True)
        f.columns = ['no', 'supplier', 'goods', 'cat', 'qty', 'price', 'amount', 'date', 'due', 'came', 'result', 'year']
        f['wait'], f['late'] = (f.came - f.date).dt.days, (f.came - f.due).dt.days
    if name == LAW:
        f = pd.read_excel(path, header=1).dropna(subset=['业务类型'])
        f.columns = [str(c) for c in f.columns]
    return f


def edge(series, low=False, n=0):
    """Label of the highest (lowest; n-th) figure of a series; a tie is a mistake of the question."""
    s = series.dropna().sort_values(ascending=low)
    hit = s.iloc[n]
    assert (s == hit).sum() == 1, s.head(n + 3)
    return s.index[n]


def one(series):
    assert len(series) == 1, series
    return series.iloc[0]


def same(*values):
    """Readings that have to agree."""
    assert len(set(values)) == 1, values
    return values[0]


def fewer(items, low=2, high=8):
    items = list(items)
    assert low <= len(items) <= high and len(set(items)) == len(items), items
    return items


month = lambda n: [LONG[n - 1], MON[n - 1], f'{n}月']
r2 = lambda x: round(float(x), 2)
div = lambda x: ('~', x)
pct = lambda part, whole: ('~', 100 * part / whole)
count = lambda mask: int(mask.sum())
use = lambda f, year, medium=None, plant=None: f[(f.year == year) & ((f.Medium == medium) | (medium is None)) & ((f.Plant == plant) | (plant is None))]
CN = {'Leeds': '利兹', 'Dresden': '德累斯顿', 'Lyon': '里昂', 'Gdansk': '格但斯克', 'Porto': '波尔图', 'Germany': '德国', 'France': '法国', 'Italy': '意大利', 'Spain': '西班牙', 'Poland': '波兰', 'Netherlands': '荷兰'}
EXTRA = {'ICU': ['intensive care'], '放射科': ['radiology'], '超声科': ['ultrasound'], '急诊科': ['emergency'], '检验科': ['laboratory'], '肾内科': ['nephrology'], '手术室': ['operating room'],
         '呼吸机': ['ventilator'], '东北': ['Northeast'], '西南': ['Southwest']}

# language, file, operation, kind, question, answer of the frame
Q = [
    # --- English over English tables
    ('en', WO, 'count-if', 'number', 'how many maintenance work orders in the plant are still open?', lambda f: count(f.status == 'Open')),
    ('en', WO, 'sum-if', 'number', 'What did we spend on spare parts for the paint shop?', lambda f: r2(f[f.line == 'Paint shop'].parts.sum())),
    ('en', WO, 'max-group', 'text', 'Which technician put in the most hours on maintenance work orders?', lambda f: edge(f.groupby('tech').hours.sum())),
    ('en', WO, 'count-if-date', 'number', 'How many breakdowns did we get on press line 2 in Q3?', lambda f: count((f.kind == 'Breakdown') & (f.line == 'Press line 2') & f.raised.dt.month.between(7, 9))),
    ('en', WO, 'mean-if', 'number', 'On average, how many labour hours does a breakdown job take our technicians?', lambda f: div(f[f.kind == 'Breakdown'].hours.mean())),
    ('en', WO, 'count-empty', 'number', 'how many work orders have nobody assigned as technician', lambda f: count(f.tech.isna())),
    ('en', WO, 'share', 'number', 'What percentage of the maintenance work orders were safety relevant?', lambda f: pct(count(f.safety == 'yes'), len(f))),
    ('en', WO, 'max-count-if', 'text', 'Which machine broke down most often?', lambda f: edge(f[f.kind == 'Breakdown'].machine.value_counts())),
    ('en', WO, 'max-month', 'text', 'In what month were the most maintenance work orders raised?', lambda f: month(edge(f.raised.dt.month.value_counts()))),
    ('en', WO, 'count-between', 'number', 'How many work orders needed parts for between 2 and 5 thousand euros?', lambda f: count(f.parts.between(2000, 5000))),

    ('en', INV, 'count-empty', 'number', 'How many supplier invoices are still unpaid?', lambda f: count(f.paid.isna())),
    ('en', INV, 'sum-empty', 'number', 'How much money do we still owe our suppliers on unpaid invoices?', lambda f: r2(f[f.paid.isna()].amount.sum())),
    ('en', INV, 'count-compare', 'number', 'How many supplier invoices did we pay after the due date?', lambda f: count(f.paid > f.due)),
    ('en', INV, 'min-if', 'text', 'Of the supplier invoices we have not paid yet, which one is longest overdue?', lambda f: edge(f[f.paid.isna()].set_index('no').due, low=True)),
    ('en', INV, 'mean-if', 'number', "what's the average invoice for the foundry, in pounds", lambda f: div(f[f.centre == 'Foundry'].amount.mean())),
    ('en', INV, 'second', 'text', 'Which supplier invoiced us the second largest amount in total?', lambda f: edge(f.groupby('supplier').amount.sum(), n=1)),
    ('en', INV, 'sum-if-date', 'number', 'What has Harlow Steel billed us since 1 September?', lambda f: r2(f[(f.supplier == 'Harlow Steel plc') & (f.date >= '2024-09-01')].amount.sum())),
    ('en', INV, 'mean-difference', 'number', 'How many days does it take us on average to pay a supplier invoice, counted from the invoice date?', lambda f: div((f.paid - f.date).dt.days.mean())),
    ('en', INV, 'none', 'none', 'From which bank account did we pay Harlow Steel?', None),

    ('en', EN, 'max-group-if', 'text', 'Which plant used the most electricity in 2024?', lambda f: edge(use(f, 2024, 'Electricity').groupby('Plant').Total.sum())),
    ('en', EN, 'sum-if-2', 'number', 'How many MWh of natural gas did Dresden burn in 2023?', lambda f: r2(use(f, 2023, 'Natural gas', 'Dresden').Total.sum())),
    ('en', EN, 'difference', 'number', 'What is the difference between the electricity consumption of Leeds in 2023 and 2024, in MWh?', lambda f: r2(use(f, 2024, 'Electricity', 'Leeds').Total.sum() - use(f, 2023, 'Electricity', 'Leeds').Total.sum())),
    ('en', EN, 'sum-columns', 'number', 'how much electricity did the Gdansk plant use in Q3 of 2024 (MWh)?', lambda f: r2(use(f, 2024, 'Electricity', 'Gdansk')[['Jul', 'Aug', 'Sep']].sum().sum())),
    ('en', EN, 'max-column', 'text', 'Which was the month with the highest natural gas consumption of all plants together in 2024?', lambda f: month(MON.index(edge(use(f, 2024, 'Natural gas')[MON].sum())) + 1)),
    ('en', EN, 'share', 'number', 'What share of the total 2023 energy consumption of our plants was electricity, in percent?', lambda f: pct(use(f, 2023, 'Electricity').Total.sum(), use(f, 2023).Total.sum())),
    ('en', EN, 'none', 'none', 'What did a megawatt hour of electricity cost the Lyon plant in 2024?', None),

    ('en', TRIAL, 'count-if', 'number', 'How many trial sites are recruiting at the moment?', lambda f: count(f.status == 'Recruiting')),
    ('en', TRIAL, 'sum-if', 'number', 'How many patients have been randomised in Germany?', lambda f: int(f[f.country == 'Germany'].randomised.sum())),
    ('en', TRIAL, 'max', 'text', 'Which hospital screened the most patients for the trial?', lambda f: edge(f.set_index('hospital').screened)),
    ('en', TRIAL, 'second', 'text', 'Which country has the second largest trial budget?', lambda f: edge(f.groupby('country').budget.sum(), n=1)),
    ('en', TRIAL, 'count-empty', 'number', 'For how many trial sites is no contract signing date entered?', lambda f: count(f.signed.isna())),
    ('en', TRIAL, 'list', 'list', 'which trial hospitals are on hold?', lambda f: fewer(f[f.status == 'On hold'].hospital)),
    ('en', TRIAL, 'count-compare', 'number', 'How many trial sites have randomised more patients than planned?', lambda f: count(f.randomised > f.planned)),
    ('en', TRIAL, 'none', 'none', 'How many of the randomised trial patients are women?', None),

    ('en', TRAIN, 'count-if-2', 'number', 'How many people failed the GMP basics course?', lambda f: count((f.course == 'GMP Basics') & (f.passed == 'No'))),
    ('en', TRAIN, 'mean-if', 'number', 'What is the average score in the data protection training?', lambda f: div(f[f.course == 'Data Protection'].score.mean())),
    ('en', TRAIN, 'list', 'list', 'who failed the fire safety training in 2023?', lambda f: fewer(f[(f.course == 'Fire Safety') & (f.passed == 'No') & (f.date.dt.year == 2023)].name)),
    ('en', TRAIN, 'sum-if', 'number', 'what do the training fees for the quality department add up to?', lambda f: r2(f[f.dept == 'Quality'].fee.sum())),
    ('en', TRAIN, 'count-empty', 'number', 'How many trainings have no completion date entered?', lambda f: count(f.date.isna())),
    ('en', TRAIN, 'min-if', 'text', "Whose forklift licence runs out first?", lambda f: edge(f[f.course == 'Forklift Licence'].set_index('name').valid, low=True)),
    ('en', TRAIN, 'count-if-date', 'number', 'How many first aid certificates expire in 2025?', lambda f: count((f.course == 'First Aid') & (f.valid.dt.year == 2025))),
    ('en', TRAIN, 'max-group', 'text', 'Which course has cost us the most in training fees?', lambda f: edge(f.groupby('course').fee.sum())),

    # --- English over Chinese tables
    ('en', HT, 'count-if', 'number', 'How many contracts in the contract register are in dispute?', lambda f: count(f.status == '争议中')),
    ('en', HT, 'mean-if', 'number', 'What is the average value of our lease contracts, in ten thousand yuan?', lambda f: div(f[f.kind == '租赁'].total.mean())),
    ('en', WX, 'count-if', 'number', 'How many of the hospital equipment repairs go to the manufacturer coming on site?', lambda f: count(f.way == '厂家上门')),
    ('en', WX, 'max-count', 'text', 'Which hospital department reported the most equipment failures?', lambda f: edge(f.dept.value_counts())),
    ('en', XS, 'min-group', 'text', 'Which sales region sold the least in 2024?', lambda f: edge(f.groupby('大区')['全年合计'].sum(), low=True)),
    ('en', PO, 'count-compare', 'number', 'How many of the 2023 purchase orders arrived later than the agreed delivery date?', lambda f: count((f.year == 2023) & (f.came > f.due))),
    ('en', PO, 'count-if', 'number', 'How many purchase order deliveries were rejected as unqualified by inspection, 2023 and 2024 together?', lambda f: count(f.result == '不合格')),
    ('en', LAW, 'sum-if', 'number', 'How many labour dispute cases did the law firm handle in 2022 across all offices?', lambda f: int(f[f['业务类型'] == '劳动争议']['2022'].sum())),

    # --- Chinese over Chinese tables
    ('zh', HT, 'count-if', 'number', '现在还在履行的合同有几份？', lambda f: count(f.status == '履行中')),
    ('zh', HT, 'sum-if', 'number', '采购合同加起来一共签了多少万元？', lambda f: r2(f[f.kind == '采购'].total.sum())),
    ('zh', HT, 'max-group', 'text', '跟哪家公司签的合同总金额最大？', lambda f: edge(f.groupby('party').total.sum())),
    ('zh', HT, 'list', 'list', '金额超过350万元的工程合同有哪些？给我合同编号', lambda f: fewer(f[(f.kind == '工程') & (f.total > 350)].no)),
    ('zh', HT, 'sum-difference', 'number', '履行中的合同还有多少万元没结算？', lambda f: r2((f.total - f.settled)[f.status == '履行中'].sum())),
    ('zh', HT, 'count-if-date', 'number', '2024年下半年签了几份技术服务合同？', lambda f: count((f.kind == '技术服务') & (f.signed >= '2024-07-01') & (f.signed <= '2024-12-31'))),
    ('zh', HT, 'count-empty', 'number', '有多少份合同原件还没归档？', lambda f: count(f.filed.isna())),
    ('zh', HT, 'count-between', 'number', '金额在100万到300万之间的合同有多少份？', lambda f: same(count(f.total.between(100, 300)), count((f.total > 100) & (f.total < 300)))),
    ('zh', HT, 'none', 'none', '合同台账里哪些合同约定了仲裁解决争议？', None),

    ('zh', WX, 'count-if', 'number', '医院设备还有多少单在维修中？', lambda f: count(f.status == '维修中')),
    ('zh', WX, 'sum-if', 'number', '放射科的设备维修一共花了多少钱？', lambda f: int(f[f.dept == '放射科'].cost.sum())),
    ('zh', WX, 'max-count', 'text', '医院里哪种设备坏的次数最多？', lambda f: edge(f.gear.value_counts())),
    ('zh', WX, 'mean-if', 'number', '外送维修的医疗设备平均停机多少小时？', lambda f: div(f[f.way == '外送维修'].down.mean())),
    ('zh', WX, 'count-if-date', 'number', '第三季度呼吸机报修了几次？', lambda f: count((f.gear == '呼吸机') & f.raised.dt.month.between(7, 9))),
    ('zh', WX, 'share', 'number', '在保的设备维修单占百分之多少？', lambda f: pct(count(f.warranty == '是'), len(f))),
    ('zh', WX, 'max', 'text', '医院设备维修里花钱最多的那一单，单号是多少？', lambda f: edge(f.set_index('no').cost)),
    ('zh', WX, 'max-difference', 'text', '医院哪一张维修单从报修到修好拖的天数最长？', lambda f: edge((f.done - f.raised).dt.days.set_axis(f.no))),

    ('zh', XS, 'sum-if', 'number', '华东大区去年全年（2024年）卖了多少万元？', lambda f: r2(f[f['大区'] == '华东']['全年合计'].sum())),
    ('zh', XS, 'max-column', 'text', '2024年全国哪个月销售额最高？', lambda f: month(YUE.index(edge(f[YUE].sum())) + 1)),
    ('zh', XS, 'sum-columns', 'number', '体外诊断试剂二季度卖了多少万元？', lambda f: r2(f[f['产品线'] == '体外诊断试剂'][['4月', '5月', '6月']].sum().sum())),
    ('zh', XS, 'difference', 'number', '华北比华南全年多卖了多少万元？', lambda f: r2(f[f['大区'] == '华北']['全年合计'].sum() - f[f['大区'] == '华南']['全年合计'].sum())),
    ('zh', XS, 'lookup', 'number', '西南大区2月份影像设备的销售额是多少？', lambda f: r2(one(f[(f['大区'] == '西南') & (f['产品线'] == '影像设备')]['2月']))),
    ('zh', XS, 'share', 'number', '手术耗材占全国全年销售额的百分之几？', lambda f: pct(f[f['产品线'] == '手术耗材']['全年合计'].sum(), f['全年合计'].sum())),
    ('zh', XS, 'none', 'none', '销售月报里哪个业务员的业绩最好？', None),

    ('zh', PO, 'max-mean-difference', 'text', '哪家供应商交货最慢？看下单到到货平均要多少天', lambda f: same(edge(f.groupby('supplier').wait.mean()), edge(f.groupby('supplier').late.mean()), edge(f.groupby('supplier').wait.max()))),
    ('zh', PO, 'sum-if', 'number', '2024年的采购订单总共多少钱？', lambda f: r2(f[f.year == 2024].amount.sum())),
    ('zh', PO, 'difference-count', 'number', '2024年的采购订单比2023年多几单？', lambda f: count(f.year == 2024) - count(f.year == 2023)),
    ('zh', PO, 'mean', 'number', '两年的采购订单合在一起，平均每单多少钱？', lambda f: div(f.amount.mean())),
    ('zh', PO, 'count-empty', 'number', '有几张采购订单到现在还没到货？', lambda f: count(f.came.isna())),
    ('zh', PO, 'top', 'list', '2023和2024两年里采购花钱最多的前三种物料是哪些？', lambda f: [edge(f.groupby('goods').amount.sum(), n=k) for k in range(3)]),
    ('zh', PO, 'count-compare-if', 'number', '2024年温州瑞丰阀门有多少单实际到货晚于约定日期？', lambda f: count((f.year == 2024) & (f.supplier == '温州瑞丰阀门') & (f.came > f.due))),
    ('zh', PO, 'distinct', 'number', '我们一共向多少家不同的供应商下过采购订单？', lambda f: f.supplier.nunique()),

    ('zh', LAW, 'lookup', 'number', '北京分所2023年办了多少件知识产权案子？', lambda f: int(one(f[(f['分所'] == '北京') & (f['业务类型'] == '知识产权')]['2023']))),
    ('zh', LAW, 'max-column', 'text', '律所哪一年办的案件最多？', lambda f: [edge(f[[str(y) for y in range(2019, 2025)]].sum())]),
    ('zh', LAW, 'sum-columns', 'number', '上海分所2019到2024年六年一共办了多少件案子？', lambda f: int(f[f['分所'] == '上海'][[str(y) for y in range(2019, 2025)]].sum().sum())),
    ('zh', LAW, 'difference', 'number', '律所全所2024年的案件比2019年多了多少件？', lambda f: int(f['2024'].sum() - f['2019'].sum())),
    ('zh', LAW, 'second', 'text', '律所2024年案件量排第二的业务类型是什么？', lambda f: edge(f.groupby('业务类型')['2024'].sum(), n=1)),
    ('zh', LAW, 'none', 'none', '律所成都分所2024年收了多少律师费？', None),

    # --- Chinese over English tables
    ('zh', WO, 'count-if-2', 'number', '工厂维修工单里，高优先级又还没完成（状态Open）的有多少张？', lambda f: count((f.prio == 'High') & (f.status == 'Open'))),
    ('zh', WO, 'mean-difference', 'number', '工厂装配线（Assembly）的维修工单，从提出到完工平均用几天？', lambda f: div((f.done - f.raised).dt.days[f.line == 'Assembly'].mean())),
    ('zh', WO, 'max', 'text', '工厂维修工单里配件费最贵的是哪一张？', lambda f: edge(f.set_index('no').parts)),
    ('zh', INV, 'sum', 'number', 'Northfield的供应商发票总额是多少英镑？', lambda f: r2(f.amount.sum())),
    ('zh', INV, 'count-if', 'number', '有争议的供应商发票有几张？', lambda f: count(f.disputed == 'Y')),
    ('zh', EN, 'sum-if-2', 'number', '里昂（Lyon）工厂2024年用了多少兆瓦时天然气？', lambda f: r2(use(f, 2024, 'Natural gas', 'Lyon').Total.sum())),
    ('zh', EN, 'min-group-if', 'text', '2024年12月哪家工厂的能耗最低？', lambda f: edge(use(f, 2024).groupby('Plant').Dec.sum(), low=True)),
    ('zh', EN, 'difference', 'number', '所有工厂的能源总用量，2024年和2023年相差多少兆瓦时？', lambda f: r2(abs(f[f.year == 2024].Total.sum() - f[f.year == 2023].Total.sum()))),
    ('zh', TRIAL, 'max-group', 'text', '临床试验里哪个国家随机入组的患者最多？', lambda f: edge(f.groupby('country').randomised.sum())),
    ('zh', TRIAL, 'mean-if', 'number', '西班牙的试验中心平均预算是多少千欧元？', lambda f: div(f[f.country == 'Spain'].budget.mean())),
    ('zh', TRAIN, 'count-if-3', 'number', '生产部（Production）有多少人通过了消防培训？', lambda f: count((f.dept == 'Production') & (f.course == 'Fire Safety') & (f.passed == 'Yes'))),
    ('zh', TRAIN, 'difference-count', 'number', '员工培训里，线上的比课堂的多多少条？', lambda f: count(f.format == 'Online') - count(f.format == 'Classroom')),
]


def plain(v):
    return f'{float(v):.2f}'.rstrip('0').rstrip('.') if isinstance(v, float) else str(v)


def build():
    out = []
    for n, (lang, file, op, kind, text, answer) in enumerate(Q, 1):
        row = {'id': f'co{n:03d}', 'question': text, 'language': lang, 'files': [file], 'operation': op, 'answers': [], 'kind': kind}
        if kind != 'none':
            v = answer(table(file))
            if isinstance(v, tuple):
                row['answers'], row['tolerance'] = [plain(float(v[1]))], TOL
            elif isinstance(v, list):
                row['answers'] = [plain(x) for x in v]
            else:
                row['answers'] = [plain(v)] + ([CN[v]] if v in CN else []) + EXTRA.get(v, [])
        out.append(row)
    return out


def check(rows):
    """What a set must have, besides that the answers agree."""
    chinese = re.compile(r'[\u4e00-\u9fff]')
    assert len({r['question'] for r in rows}) == len(rows) == 100, len(rows)
    for r in rows:
        assert bool(chinese.search(r['question'])) == (r['language'] == 'zh'), r
        assert (r['answers'] == []) == (r['kind'] == 'none'), r
        if r['kind'] == 'number':
            assert len(r['answers']) == 1 and float(r['answers'][0]) > 0, r
        assert all(a not in ('nan', '', 'None') for a in r['answers']), r
    cross = Counter((r['language'], 'zh' if chinese.search(r['files'][0]) else 'en') for r in rows)
    assert cross == {('en', 'en'): 42, ('en', 'zh'): 8, ('zh', 'zh'): 38, ('zh', 'en'): 12}, cross
    assert sum(r['kind'] == 'none' for r in rows) == 6
    assert {r['files'][0] for r in rows} == {p.name for p in DOCS.iterdir()} == set(SIZES)
    for name, size in SIZES.items():
        assert len(table(name)) == size, (name, len(table(name)))
    print(len(rows), 'questions;', {f'{a} over {b}': n for (a, b), n in cross.items()}, dict(Counter(r['kind'] for r in rows)))


if __name__ == '__main__':
    rows = build()
    if '--write' in sys.argv:
        QUESTIONS.write_text(''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in rows), encoding='utf-8')
    check(rows)
    stored = [json.loads(line) for line in QUESTIONS.read_text(encoding='utf-8').splitlines()]
    bad = [(a, b) for a, b in zip(rows, stored) if a != b]
    for a, b in bad:
        print('differs:', a, b)
    sys.exit(1 if bad or len(rows) != len(stored) else 0)
