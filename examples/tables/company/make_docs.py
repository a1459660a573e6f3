"""Writes docs/ (ten invented company tables) from a fixed seed.   python3 make_docs.py     Needs: openpyxl."""
import csv
import datetime as dt
import random
import re
import zipfile
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

DOCS = Path(__file__).resolve().parent / 'docs'
DOCS.mkdir(exist_ok=True)
STAMP = dt.datetime(2025, 1, 15, 8, 0)
D = dt.date
days = lambda n: dt.timedelta(days=n)
BOLD = Font(bold=True)


def between(r, a, b):
    return a + days(r.randrange((b - a).days + 1))


def pick(r, weights):
    return r.choices(list(weights), list(weights.values()))[0]


def money(r, mid, spread=0.9):
    return round(r.lognormvariate(0, spread) * mid, 2)


def german(x):
    return f'{x:,.2f}'.replace(',', ' ').replace('.', ',').replace(' ', '.')


def save(book, name):
    book.properties.created = book.properties.modified = STAMP
    for sheet in book:
        for column in range(1, sheet.max_column + 1):
            sheet.column_dimensions[get_column_letter(column)].width = 14
    book.save(DOCS / name)
    with zipfile.ZipFile(DOCS / name) as z:                     # the same bytes in every run
        parts = [(i.filename, z.read(i)) for i in z.infolist()]
    with zipfile.ZipFile(DOCS / name, 'w', zipfile.ZIP_DEFLATED) as z:
        for part, data in parts:
            if part == 'docProps/core.xml':
                data = re.sub(rb'\d{4}-\d\d-\d\dT[\d:]+Z', b'2025-01-15T08:00:00Z', data)
            z.writestr(zipfile.ZipInfo(part, (2025, 1, 15, 8, 0, 0)), data, zipfile.ZIP_DEFLATED)


def work_orders():
    r = random.Random(104)
    lines = {
        'Press line 1': ['Press P-110', 'Press P-120', 'Decoiler D-11', 'Robot R-14'],
        'Press line 2': ['Press P-210', 'Press P-220', 'Decoiler D-21', 'Transfer T-25'],
        'Paint shop': ['Oven O-31', 'Spray booth S-32', 'Conveyor C-33'],
        'Assembly': ['Welding cell W-41', 'Welding cell W-42', 'Screw station S-44'],
        'Warehouse': ['Forklift F-51', 'Stacker crane K-53'],
    }
    staff = {'J. Brandt': 9, 'M. Okafor': 7, 'S. Lindqvist': 6, 'P. Moreau': 5, 'A. Yilmaz': 4, 'T. Novak': 3, '': 2}
    raised = sorted(between(r, D(2024, 1, 2), D(2024, 12, 20)) for _ in range(287))
    rows = []
    for n, start in enumerate(raised):
        line = pick(r, {'Press line 1': 8, 'Press line 2': 10, 'Paint shop': 7, 'Assembly': 6, 'Warehouse': 3})
        machine = r.choice(lines[line]) if r.random() < .8 else lines[line][0]
        kind = pick(r, {'Breakdown': 10, 'Preventive': 9, 'Inspection': 5, 'Modification': 2})
        status = pick(r, {'Done': 80, 'Open': 8 if start < D(2024, 10, 1) else 45, 'Cancelled': 6})
        end = start + days(int(r.expovariate(1 / (4 if kind == 'Breakdown' else 12)))) if status == 'Done' else None
        hours = round(r.uniform(.5, 6) * (2 if kind == 'Modification' else 1) * (1.6 if kind == 'Breakdown' else 1), 1) if status == 'Done' else None
        parts = money(r, 900 if kind == 'Breakdown' else 160) if status != 'Cancelled' and r.random() < .72 else None
        rows.append([f'WO-24-{n + 1:04d}', f'{start:%d.%m.%Y}', line, machine, kind, pick(r, {'High': 3, 'Medium': 5, 'Low': 3}), pick(r, staff),
                     f'{end:%d.%m.%Y}' if end else '', status, f'{hours:.1f}'.replace('.', ',') if hours else '', german(parts) if parts else '', 'yes' if r.random() < .23 else 'no'])
    with open(DOCS / 'maintenance_work_orders.csv', 'w', newline='', encoding='utf-8') as f:
        w = csv.writer(f, delimiter=';', lineterminator='\r\n')
        w.writerow(['WO No.', 'Raised on', 'Line', 'Machine', 'Order type', 'Priority', 'Technician', 'Finished on', 'Status', 'Labour hours', 'Parts cost (EUR)', 'Safety relevant'])
        w.writerows(rows)


def invoices():
    r = random.Random(202)
    suppliers = {'Harlow Steel plc': (12, 6200), 'Brightwell Gases': (9, 1500), 'Castlegate Tooling': (8, 4100), 'Deltec IT Services': (7, 2600), 'Moorside Haulage': (10, 1900),
                 'Peak Facilities Mgmt': (6, 2200), 'Whitcombe Refractories': (6, 5200), 'Ansell & Ross Calibration': (4, 900), 'Trent Electrical': (4, 1700), 'Greenline Waste': (3, 700)}
    home = {'Harlow Steel plc': 'Foundry', 'Deltec IT Services': 'IT', 'Moorside Haulage': 'Logistics', 'Peak Facilities Mgmt': 'Facilities', 'Whitcombe Refractories': 'Foundry',
            'Castlegate Tooling': 'Machining', 'Greenline Waste': 'Facilities'}
    rows = []
    for n, date in enumerate(sorted(between(r, D(2024, 1, 3), D(2024, 12, 19)) for _ in range(158))):
        s = pick(r, {k: v[0] for k, v in suppliers.items()})
        centre = home.get(s) or r.choice(['Foundry', 'Machining', 'Logistics', 'Facilities'])
        if r.random() < .08:
            centre = 'Machining'
        due = date + days(r.choice([14, 30, 30, 30, 45, 60]))
        disputed = r.random() < .1
        paid = due + days(r.choice([-9, -6, -3, -2, -1, 0, 0, 3, 5, 8, 12, 19, 33]))
        if disputed and r.random() < .6 or paid > D(2024, 12, 30) or r.random() < .04:
            paid = None
        rows.append([f'SI-{10230 + n * 3}', s, centre, date, due, paid, money(r, suppliers[s][1], .7), 'Y' if disputed else 'N'])
    b = Workbook()
    ws = b.active
    ws.title = 'Invoices'
    ws.append(['Northfield Castings Ltd - Supplier invoices 2024'])
    ws.append(['Accounts payable, as of 31 Dec 2024. Amounts include VAT.'])
    ws.append([])
    ws.append(['Invoice no', 'Supplier', 'Cost centre', 'Invoice date', 'Due date', 'Paid on', 'Amount (GBP)', 'Disputed'])
    ws['A1'].font = Font(bold=True, size=14)
    for c in ws[4]:
        c.font = BOLD
    for row in rows:
        ws.append(row)
    ws.append(['Total', None, None, None, None, None, round(sum(x[6] for x in rows), 2), None])
    for c in ws[ws.max_row]:
        c.font = BOLD
    ws.append([])
    ws.append(['Note: disputed invoices are with the legal department; do not pay before release.'])
    for row in ws.iter_rows(min_row=5, min_col=4, max_col=6):
        for c in row:
            c.number_format = 'dd/mm/yyyy'
    for row in ws.iter_rows(min_row=5, min_col=7, max_col=7):
        row[0].number_format = '#,##0.00'
    save(b, 'supplier_invoices_2024.xlsx')


MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()


def energy():
    r = random.Random(303)
    meters = []
    for plant, code, load in [('Leeds', 'L', 1.0), ('Dresden', 'D', 1.35), ('Lyon', 'Y', .8), ('Gdansk', 'G', 1.15), ('Porto', 'P', .55)]:
        for k, (area, base) in enumerate([('Main incomer', 310), ('Melt shop', 420), ('Compressors', 90), ('Offices', 18)]):
            meters.append((plant, f'{code}-E{k + 1:02d} {area}', 'Electricity', base * load))
        for k, (area, base) in enumerate([('Furnaces', 260), ('Boiler house', 150)]):
            meters.append((plant, f'{code}-G{k + 1:02d} {area}', 'Natural gas', base * load))
        if plant in ('Dresden', 'Gdansk', 'Lyon'):
            meters.append((plant, f'{code}-H01 Heat transfer', 'District heating', 75 * load))
    b = Workbook()
    b.remove(b.active)
    for year in (2023, 2024):
        ws = b.create_sheet(str(year))
        ws.append([f'Energy consumption by meter, {year} (MWh)'])
        ws.append(['Plant', 'Meter', 'Medium'] + MONTHS + ['Total'])
        rows = []
        for plant, meter, medium, base in meters:
            values = []
            for m in range(12):
                season = {'Electricity': 1, 'Natural gas': 1.35 - .7 * (1 - abs(m - 6) / 6), 'District heating': 1.9 - 1.85 * (1 - abs(m - 6) / 6)}[medium]
                shut = .6 if m == 7 and plant in ('Lyon', 'Porto') else 1
                drift = 1 if year == 2023 else {'Leeds': 1.16, 'Dresden': .86, 'Lyon': .95, 'Gdansk': 1.07, 'Porto': 1.2}[plant]
                values.append(round(base * season * shut * drift * r.uniform(.88, 1.12), 1))
            rows.append([plant, meter, medium] + values + [round(sum(values), 1)])
        for row in rows:
            ws.append(row)
        ws.append(['All plants', None, None] + [round(sum(x[3 + m] for x in rows), 1) for m in range(13)])
        for k in (1, 2, ws.max_row):
            for c in ws[k]:
                c.font = BOLD
    save(b, 'energy_meters_2023_2024.xlsx')


def trial():
    r = random.Random(404)
    cities = {'Germany': ['Charité Berlin', 'UKE Hamburg', 'LMU Munich', 'Uniklinik Köln', 'UK Heidelberg', 'UK Leipzig', 'UK Freiburg', 'MH Hannover', 'UK Essen', 'UK Tübingen', 'UK Dresden'],
              'France': ['Hôpital Saint-Louis', 'CHU Lille', 'CHU Bordeaux', 'HCL Lyon', 'CHU Nantes', 'CHU Toulouse', 'AP-HM Marseille', 'CHU Rennes'],
              'Italy': ['Gemelli Roma', 'San Raffaele Milano', 'AOU Careggi', 'Policlinico Bari', 'AOU Padova', 'Cardarelli Napoli', 'Molinette Torino'],
              'Spain': ['Vall d\'Hebron', 'La Paz Madrid', 'La Fe Valencia', 'Virgen del Rocío', 'Clínic Barcelona', 'Cruces Bilbao', 'Marqués de Valdecilla'],
              'Poland': ['WUM Warsaw', 'CM UJ Kraków', 'UCK Gdańsk', 'USK Wrocław', 'SPSK Lublin', 'UM Poznań'],
              'Netherlands': ['Amsterdam UMC', 'Erasmus MC', 'UMC Utrecht', 'Radboudumc', 'LUMC Leiden']}
    cost = {'Germany': 190, 'France': 175, 'Italy': 150, 'Spain': 140, 'Poland': 95, 'Netherlands': 210}
    b = Workbook()
    ws = b.active
    ws.title = 'Site overview'
    ws.append(['Site', None, None, 'Patients', None, None, None, 'Contract', None, 'Operations', None])
    ws.append(['No.', 'Hospital', 'Country', 'Planned', 'Screened', 'Randomised', 'Dropped out', 'Signed on', 'Budget (kEUR)', 'Activated on', 'Status'])
    for span in ('A1:C1', 'D1:G1', 'H1:I1', 'J1:K1'):
        ws.merge_cells(span)
    for k in (1, 2):
        for c in ws[k]:
            c.font, c.alignment = BOLD, Alignment(horizontal='center')
    sites = [(h, c) for c in cities for h in cities[c]]
    r.shuffle(sites)
    for n, (hospital, country) in enumerate(sites):
        planned = r.choice([8, 10, 12, 15, 15, 20, 25])
        status = pick(r, {'Recruiting': 24, 'Closed': 8, 'On hold': 4, 'Not yet activated': 8})
        signed = None if status == 'Not yet activated' and r.random() < .7 else between(r, D(2022, 11, 1), D(2024, 5, 30))
        active = None
        screened = randomised = dropped = 0
        if status != 'Not yet activated':
            active = signed + days(r.randrange(20, 150))
            screened = int(planned * r.uniform(.6, 1.9)) + r.randrange(4)
            randomised = int(screened * r.uniform(.5, .9))
            dropped = min(randomised, int(r.expovariate(1 / 1.8)))
        budget = round(cost[country] * r.uniform(.7, 1.3) * planned / 14, 1)
        ws.append([101 + n, hospital, country, planned, screened, randomised, dropped, signed, budget, active, status])
    for row in ws.iter_rows(min_row=3):
        row[7].number_format = row[9].number_format = 'yyyy-mm-dd'
    save(b, 'trial_sites_CARDIA-3.xlsx')


def training():
    r = random.Random(505)
    first = 'Anna Ben Carla David Elena Farid Grace Henry Irina Jack Karen Leo Maya Nils Olivia Pavel Quinn Rosa Samir Tess Umar Vera Will Xenia Yusuf Zoe'.split()
    last = 'Adams Berger Costa Dunne Evans Fischer Grant Hughes Ito Jansen Kaur Lopez Meyer Nowak Owens Patel Reid Silva Turner Ueda Voss Walsh Young Ziegler Abbott Boyd'.split()
    r.shuffle(last)
    dep = {'Production': 26, 'Quality': 12, 'R&D': 12, 'Sales': 10, 'Legal': 6, 'HR': 5}
    people, seen = [], set()
    while len(people) < 84:
        name = f'{r.choice(first)} {r.choice(last)}'
        if name not in seen:
            seen.add(name)
            people.append((f'E{2100 + len(people) * 7}', name, pick(r, dep)))
    courses = {'GMP Basics': (120, 730), 'Fire Safety': (45, 365), 'Forklift Licence': (380, 1095), 'Data Protection': (60, 730), 'First Aid': (150, 730), 'Anti-Bribery': (75, None)}
    rows = []
    for e, name, d in people:
        for course, (fee, valid) in courses.items():
            chance = {'Forklift Licence': .5 if d == 'Production' else .04, 'GMP Basics': .85 if d in ('Production', 'Quality', 'R&D') else .2, 'Fire Safety': .95, 'First Aid': .45,
                      'Data Protection': .85, 'Anti-Bribery': .9 if d in ('Sales', 'Legal') else .35}[course]
            if r.random() > chance:
                continue
            date = between(r, D(2023, 1, 9), D(2024, 12, 13))
            form = 'Classroom' if course in ('Forklift Licence', 'First Aid') else pick(r, {'Online': 3, 'Classroom': 2})
            if r.random() < .09:
                rows.append([None, e, name, d, course, form, '', '', '', '', fee, date])
                continue
            score = min(100, max(31, int(r.gauss({'Quality': 84, 'R&D': 80, 'Legal': 88}.get(d, 74), 12))))
            ok = score >= 60
            rows.append([None, e, name, d, course, form, date.isoformat(), (date + days(valid)).isoformat() if ok and valid else '', score, 'Yes' if ok else 'No',
                         round(fee * (.8 if form == 'Online' else 1) * r.choice([1, 1, 1, 1.1]), 2), date])
    rows.sort(key=lambda x: (x[11], x[1], x[4]))
    with open(DOCS / 'training_records.csv', 'w', newline='', encoding='utf-8') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['Record', 'Employee ID', 'Employee', 'Department', 'Course', 'Format', 'Completed', 'Valid until', 'Score (%)', 'Passed', 'Fee (USD)'])
        for n, row in enumerate(rows):
            w.writerow([f'T{n + 1:04d}'] + row[1:6] + row[6:11])


def contracts():
    r = random.Random(606)
    parties = ['江苏恒泽化工有限公司', '上海锐康生物科技有限公司', '杭州明德包装有限公司', '北京中衡律师事务所', '苏州宏远建设集团有限公司', '广州百济堂医药有限公司', '武汉同创物流有限公司', '成都蓉信软件有限公司',
               '南京华辰仪器有限公司', '深圳迈越医疗器械有限公司', '天津海通物业管理有限公司', '青岛海润冷链有限公司', '合肥科讯自动化有限公司', '重庆长兴医药有限公司', '西安秦岭药材有限公司', '无锡产业园管理有限公司']
    kinds = {'采购': (10, 65, ['原料采购合同', '包材采购合同', '试剂采购合同', '设备采购合同'], ['采购部', '生产部']),
             '销售': (9, 130, ['产品经销合同', '年度供货合同', '药品销售合同'], ['销售部', '市场部']),
             '租赁': (4, 90, ['厂房租赁合同', '仓库租赁合同', '设备租赁合同'], ['行政部']),
             '技术服务': (6, 38, ['检测服务合同', '软件维护合同', '验证服务合同', '法律顾问合同'], ['研发部', '信息部', '法务部']),
             '工程': (3, 260, ['车间改造工程合同', '净化工程施工合同', '污水处理工程合同'], ['工程部'])}
    rows = []
    for n, date in enumerate(sorted(between(r, D(2022, 1, 10), D(2024, 12, 16)) for _ in range(134))):
        kind = pick(r, {k: v[0] for k, v in kinds.items()})
        _, mid, names, deps = kinds[kind]
        end = date + days(r.choice([180, 365, 365, 730, 1095]) - 1)
        total = round(money(r, mid, .75), 2)
        status = pick(r, {'已完结': 12, '已终止': 1, '争议中': 1}) if end < D(2024, 12, 31) else pick(r, {'履行中': 14, '争议中': 1, '已终止': 1})
        done = total if status == '已完结' else round(total * r.choice([0, .1, .3, .3, .5, .7, .9]), 2)
        filed = date + days(r.randrange(3, 60)) if r.random() < .86 else None
        rows.append([f'HT-{date.year}-{n + 1:03d}', r.choice(names), kind, r.choice(parties[:12] if r.random() < .7 else parties), date, end, total, done, r.choice(deps),
                     '是' if kind in ('采购', '销售', '技术服务') and r.random() < .25 else '否', status, filed])
    b = Workbook()
    ws = b.active
    ws.title = '合同台账'
    ws.append(['瑞和药业股份有限公司合同台账（2022—2024年）'])
    ws.merge_cells('A1:L1')
    ws['A1'].font, ws['A1'].alignment = Font(bold=True, size=16), Alignment(horizontal='center')
    ws.append(['编制部门：法务部', None, None, None, None, None, None, None, None, None, '单位：万元'])
    ws.append(['合同编号', '合同名称', '合同类型', '相对方', '签订日期', '到期日期', '合同金额（万元）', '已结算金额（万元）', '承办部门', '是否框架协议', '履行状态', '原件归档日期'])
    for row in rows:
        ws.append(row)
    ws.append(['合计', None, None, None, None, None, round(sum(x[6] for x in rows), 2), round(sum(x[7] for x in rows), 2)])
    for k in (3, ws.max_row):
        for c in ws[k]:
            c.font = BOLD
    ws.append(['备注：框架协议金额为预估金额，以实际订单为准。'])
    for row in ws.iter_rows(min_row=4):
        for k in (4, 5, 11):
            row[k].number_format = 'yyyy-mm-dd'
    save(b, '合同台账.xlsx')


def repairs():
    r = random.Random(707)
    gear = {'呼吸机': ('ICU', 9, 2600), '监护仪': ('ICU', 7, 700), 'CT机': ('放射科', 4, 14500), 'X光机': ('放射科', 4, 6200), '彩超': ('超声科', 6, 3800), '输液泵': ('急诊科', 8, 320),
            '除颤仪': ('急诊科', 3, 1100), '血液透析机': ('肾内科', 7, 2100), '生化分析仪': ('检验科', 5, 4300), '离心机': ('检验科', 4, 600), '麻醉机': ('手术室', 4, 3100), '高频电刀': ('手术室', 3, 1300)}
    brand = {'呼吸机': ['迈瑞', '德尔格'], 'CT机': ['西门子', '联影'], 'X光机': ['联影', '西门子'], '彩超': ['迈瑞', '飞利浦']}
    rows = []
    for n, date in enumerate(sorted(between(r, D(2024, 1, 2), D(2024, 12, 27)) for _ in range(226))):
        g = pick(r, {k: v[1] for k, v in gear.items()})
        dept = gear[g][0] if r.random() < .85 else r.choice(['ICU', '急诊科', '手术室']) if g in ('呼吸机', '监护仪', '输液泵', '除颤仪', '麻醉机') else gear[g][0]
        way = pick(r, {'院内自修': 11, '厂家上门': 7, '外送维修': 4})
        warranty = r.random() < .31
        state = pick(r, {'已修复': 30, '维修中': 2 if date < D(2024, 11, 15) else 14, '待报废': 1})
        wait = int(r.expovariate(1 / {'院内自修': 3, '厂家上门': 7, '外送维修': 15}[way]))
        end = date + days(wait) if state == '已修复' else None
        cost = 0 if warranty else round(money(r, gear[g][2] * {'院内自修': .4, '厂家上门': 1.5, '外送维修': 1.1}[way], .6))
        rows.append([f'WX{date:%y%m}{n + 1:03d}', f'{date.year}/{date.month}/{date.day}', dept, g, r.choice(brand.get(g, ['迈瑞', '费森尤斯', '贝朗'])),
                     pick(r, {'电源故障': 5, '传感器故障': 6, '软件故障': 3, '机械磨损': 5, '人为损坏': 2}), way, f'{end.year}/{end.month}/{end.day}' if end else '', state,
                     round(wait * 24 * r.uniform(.6, 1) + r.uniform(1, 10), 1) if end else '', '' if state == '维修中' else cost, '是' if warranty else '否',
                     pick(r, {'周建国': 6, '李敏': 5, '陈伟': 4, '孙晓峰': 3})])
    with open(DOCS / '医院设备维修记录.csv', 'w', newline='', encoding='utf-8-sig') as f:
        w = csv.writer(f, lineterminator='\r\n')
        w.writerow(['维修单号', '报修日期', '科室', '设备名称', '品牌', '故障类型', '维修方式', '完成日期', '状态', '停机时长（小时）', '维修费用（元）', '是否在保', '工程师'])
        w.writerows(rows)


def sales():
    r = random.Random(808)
    b = Workbook()
    ws = b.active
    ws.title = '2024年'
    ws.append(['2024年各大区销售月报'])
    ws.merge_cells('A1:O1')
    ws.append(['单位：万元'])
    ws.append(['大区', '产品线'] + [f'{m}月' for m in range(1, 13)] + ['全年合计'])
    rows = []
    for region, k in [('华东', 1.5), ('华南', 1.1), ('华北', 1.2), ('华中', .8), ('西南', .65), ('东北', .45)]:
        top = ws.max_row + 1
        for line, base in [('影像设备', 210), ('体外诊断试剂', 150), ('手术耗材', 120), ('康复器械', 48)]:
            v = [round(base * k * r.uniform(.75, 1.3) * (.6 if m == 1 else 1.25 if m == 11 else 1.1 if m in (5, 8) else 1), 1) for m in range(12)]
            rows.append([region, line] + v + [round(sum(v), 1)])
            ws.append(rows[-1] if ws.max_row + 1 == top else [None] + rows[-1][1:])
        ws.merge_cells(start_row=top, end_row=top + 3, start_column=1, end_column=1)
    ws.append(['合计', None] + [round(sum(x[2 + m] for x in rows), 1) for m in range(13)])
    for k in (1, 3, ws.max_row):
        for c in ws[k]:
            c.font = BOLD
    save(b, '销售月报2024.xlsx')


def orders():
    r = random.Random(909)
    suppliers = {'宁波永昌五金': (9, 3), '东莞精工模具': (7, 5), '常州力达电机': (8, 2), '佛山新材铝业': (6, 4), '温州瑞丰阀门': (5, 17), '济南鲁科轴承': (7, 1), '厦门联芯电子': (6, 6)}
    goods = {'轴承6205': ('标准件', 18.5), '伺服电机': ('电气件', 1260), '铝型材': ('原材料', 24.8), '电磁阀': ('电气件', 185), '控制板': ('电气件', 430), '不锈钢螺栓': ('标准件', 1.6), '注塑模具': ('工装', 38500), '密封圈': ('标准件', 3.2), '冷轧钢板': ('原材料', 5.4)}
    home = {'宁波永昌五金': ['不锈钢螺栓', '密封圈', '冷轧钢板'], '东莞精工模具': ['注塑模具', '铝型材'], '常州力达电机': ['伺服电机'], '佛山新材铝业': ['铝型材', '冷轧钢板'], '温州瑞丰阀门': ['电磁阀', '密封圈'],
            '济南鲁科轴承': ['轴承6205', '不锈钢螺栓'], '厦门联芯电子': ['控制板', '电磁阀']}
    lots = {'注塑模具': [1, 1, 2], '伺服电机': [5, 10, 20, 30], '控制板': [50, 100, 150], '电磁阀': [40, 80, 120, 200]}
    b = Workbook()
    b.remove(b.active)
    for year, n in ((2023, 97), (2024, 121)):
        ws = b.create_sheet(f'{year}年')
        ws.append(['订单号', '供应商', '物料', '类别', '数量', '单价（元）', '金额（元）', '下单日期', '约定交货日', '实际到货日', '检验结果'])
        for c in ws[1]:
            c.font = BOLD
        for k, date in enumerate(sorted(between(r, D(year, 1, 4), D(year, 12, 15)) for _ in range(n))):
            s = pick(r, {k: v[0] for k, v in suppliers.items()})
            g = r.choice(home[s])
            q = r.choice(lots.get(g, [500, 800, 1000, 2000, 3000]))
            price = round(goods[g][1] * r.uniform(.92, 1.1) * (1.05 if year == 2024 else 1), 2)
            due = date + days(r.choice([15, 20, 25, 30, 30, 45]))
            came = due + days(int(r.gauss(suppliers[s][1] - 4, 6)))
            came = max(came, date + days(5))
            if year == 2024 and (came > D(2024, 12, 25) or r.random() < .03):
                came = None
            ws.append([f'PO{year % 100}{k + 1:04d}', s, g, goods[g][0], q, price, round(q * price, 2), date, due, came, pick(r, {'合格': 22, '让步接收': 3, '不合格': 2}) if came else None])
        for row in ws.iter_rows(min_row=2, min_col=8, max_col=10):
            for c in row:
                c.number_format = 'yyyy/m/d'
    save(b, '采购订单明细.xlsx')


def cases():
    r = random.Random(111)
    b = Workbook()
    ws = b.active
    ws.title = '案件数量'
    ws.append(['明正律师事务所各分所历年承办案件数（件）'])
    ws.append(['分所', '业务类型'] + list(range(2019, 2025)))
    for c in ws[2]:
        c.font = BOLD
    for office, k in [('北京', 1.6), ('上海', 1.45), ('广州', 1.0), ('深圳', 1.1), ('成都', .6), ('武汉', .5)]:
        for kind, base, growth in [('劳动争议', 70, 1.07), ('知识产权', 55, 1.12), ('建设工程', 40, .97), ('公司股权', 48, 1.03), ('刑事辩护', 26, 1.0), ('婚姻家事', 33, 1.02)]:
            ws.append([office, kind] + [round(base * k * growth ** y * (.8 if y == 1 else 1) * r.uniform(.88, 1.14)) for y in range(6)])
    ws.append([])
    ws.append(['数据来源：律所案件管理系统，截至2024年12月31日'])
    save(b, '律所历年案件统计.xlsx')


for make in (work_orders, invoices, energy, trial, training, contracts, repairs, sales, orders, cases):
    make()
