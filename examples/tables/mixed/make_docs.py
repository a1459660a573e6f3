"""Writes docs/ of this set; the same bytes every time.

python3 make_docs.py FOLDER   FOLDER holds the unpacked wheels vega_datasets 0.9.0 and statsmodels 0.15.0 (side by side)
Needs: pandas, openpyxl.
"""
import csv
import html
import json
import random
import re
import sys
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path

import openpyxl
import pandas as pd
from openpyxl.styles import Font

DOCS = Path(__file__).resolve().parent / 'docs'
STAMP = datetime(2025, 1, 1)


def found(root, name):
    hit = sorted(Path(root).rglob(name))
    assert hit, name
    return hit[0]


def save(book, name):
    book.properties.created = book.properties.modified = STAMP
    book.save(DOCS / name)
    # the same bytes every time: fixed times in the archive and in the properties
    with zipfile.ZipFile(DOCS / name) as old:
        parts = [(i.filename, old.read(i)) for i in old.infolist()]
    with zipfile.ZipFile(DOCS / name, 'w', zipfile.ZIP_DEFLATED) as new:
        for part, data in parts:
            if part == 'docProps/core.xml':
                data = re.sub(rb'(<dcterms:modified[^>]*>)[^<]*', rb'\g<1>2025-01-01T00:00:00Z', data)
            new.writestr(zipfile.ZipInfo(part, (2025, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


# --- four real tables ----------------------------------------------------------------------------------------

def el_nino(root):
    (DOCS / 'el_nino_sea_surface_temperature.csv').write_text(
        found(root, 'elnino/elnino.csv').read_text().replace('"', '').replace('\r\n', '\n').strip() + '\n', encoding='utf-8')


def cars(root):
    rows = json.loads(found(root, 'cars.json').read_text())
    with (DOCS / 'auto_mpg.jsonl').open('w', encoding='utf-8') as out:
        for r in rows:
            r['Year'] = int(r['Year'][:4])
            out.write(json.dumps(r, ensure_ascii=False) + '\n')


def crime(root):
    f = pd.read_csv(found(root, 'statecrime/statecrime.csv'), dtype=str)
    f['state'] = f.state.str.strip()
    heads = ['State', 'Violent crimes per 100,000', 'Murders per 100,000', 'High school graduates (%)', 'Below poverty line (%)', 'Single-parent families (%)', 'White only (%)', 'Urban population (%)']
    body = '\n'.join('<tr>' + ''.join(f'<td>{html.escape(c)}</td>' for c in row) + '</tr>' for row in f.itertuples(index=False))
    head = ''.join(f'<th>{html.escape(h)}</th>' for h in heads)
    (DOCS / 'us_state_crime_2009.html').write_text(f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Crime and living conditions in the US states, 2009</title></head><body>
<h1>Crime and living conditions in the US states, 2009</h1>
<p>The figures below bring together the crime rates of the fifty states and the District of Columbia with a few figures on how people live there. Rates of crime are per 100,000 inhabitants; everything else is in percent. Violent crime covers murder, rape, robbery and aggravated assault.</p>
<p>Illinois and Minnesota counted rapes in a different way, so their violent crime rates leave them out.</p>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
<p>The District of Columbia is a city, which is why it stands out in most columns. Readers should not draw conclusions from it about states.</p>
</body></html>
''', encoding='utf-8')


def weather(root):
    f = pd.read_csv(found(root, 'seattle-weather.csv'))
    f['date'] = pd.to_datetime(f.date)
    words = {'rain': '雨', 'sun': '晴', 'fog': '雾', 'drizzle': '毛毛雨', 'snow': '雪'}
    book = openpyxl.Workbook()
    book.remove(book.active)
    for year, part in f.groupby(f.date.dt.year):
        s = book.create_sheet(f'{year}年')
        s.append([f'西雅图逐日天气记录（{year}年）'])
        s['A1'].font = Font(bold=True, size=14)
        s.merge_cells('A1:F1')
        s.append(['来源：美国国家海洋和大气管理局（NOAA）'])
        s.append([])
        s.append(['日期', '降水量（毫米）', '最高气温（℃）', '最低气温（℃）', '风速（米/秒）', '天气'])
        for r in part.itertuples():
            s.append([r.date.to_pydatetime(), r.precipitation, r.temp_max, r.temp_min, r.wind, words[r.weather]])
            s.cell(s.max_row, 1).number_format = 'yyyy-mm-dd'
    save(book, '西雅图逐日天气.xlsx')


# --- four invented tables ------------------------------------------------------------------------------------

def service():
    """Harlow Compressed Air: service visits to customers' compressors."""
    rnd = random.Random(71)
    customers = [('Brackley Foods', 'Brackley'), ('Dunmore Glass', 'Leeds'), ('Fenwick Joinery', 'Hexham'), ('Gable & Roe', 'Bristol'), ('Northgate Brewery', 'Burton'), ('Orchard Plastics', 'Telford'),
                 ('Pell Dairy', 'Taunton'), ('Sandford Print', 'Reading'), ('Tolley Castings', 'Dudley')]
    techs = ['Amir Sultan', 'Beth Crane', 'Dougal Reid', 'Joanna Pike', 'Owen Marsh']
    faults = {'oil leak': 180, 'worn bearing': 420, 'failed pressure switch': 95, 'blocked filter': 60, 'motor overheating': 510, 'air leak': 75, 'routine check': 25}
    models = ['HC-15', 'HC-30', 'HC-55', 'HC-75 VSD']
    day = date(2023, 1, 9)
    with (DOCS / 'compressor_service_visits.csv').open('w', encoding='utf-8', newline='') as out:
        w = csv.writer(out, lineterminator='\n')
        w.writerow(['Visit no.', 'Date', 'Customer', 'Town', 'Compressor', 'Technician', 'Fault found', 'Hours on site', 'Parts (GBP)', 'Invoiced (GBP)', 'Warranty', 'Closed on'])
        for n in range(72):
            day += timedelta(days=rnd.randint(4, 15))
            customer, town = rnd.choices(customers, weights=[3, 2, 1, 4, 5, 3, 2, 2, 4])[0]
            fault = rnd.choice(list(faults))
            hours = rnd.randint(2, 18) / 2
            parts = round(faults[fault] * rnd.uniform(.6, 2.1), 2)
            warranty = rnd.random() < .25
            invoice = 0 if warranty else round(parts * 1.2 + hours * 68, 2)
            closed = '' if (n > 56 and rnd.random() < .45) or n in (23, 41) else (day + timedelta(days=rnd.randint(0, 12))).isoformat()
            w.writerow([f'SV-{1001 + n}', day.isoformat(), customer, town, rnd.choice(models), rnd.choices(techs, weights=[3, 4, 2, 3, 3])[0], fault, hours, f'{parts:,.2f}', f'{invoice:,.2f}', 'yes' if warranty else 'no', closed])


def matters():
    """A law firm's register of matters."""
    rnd = random.Random(29)
    clients = ['Aldgate Shipping', 'Birchwood Homes', 'Calloway Textiles', 'Dr. Mina Farrow', 'Ecker Logistik GmbH', 'Fairlight Energy', 'Granby Stores', 'Hollis & Sons', 'Iberomar SA', 'Juniper Health Trust',
               'Kestle Bank', 'Lomond Salmon', 'Marchetti Ceramics', 'Nolan Aggregates', 'Oakhurst School', 'Pemberton Estates', 'Quayside Hotels', 'Rusk Robotics', 'Sable Media', 'Thornbury Council',
               'Umbra Optics', 'Vickers Nursery', 'Wexcombe Wines', 'Yarrow Clinics', 'Zenith Haulage', 'Ashby Rail', 'Bellweather Insurance', 'Corran Wind']
    areas = ['Employment', 'Arbitration', 'Real estate', 'Intellectual property', 'Insolvency']
    partners = ['Ines Halloran', 'Piet van der Meer', 'Roshni Desai', 'Tom Abbott']
    outcomes = ['settled', 'won', 'lost', 'withdrawn']
    lines, day = [], date(2021, 2, 15)
    for n, client in enumerate(clients):
        day += timedelta(days=rnd.randint(18, 70))
        area = rnd.choices(areas, weights=[7, 5, 4, 3, 6])[0]
        hours = rnd.randint(14, 260)
        fees = hours * rnd.choice([240, 265, 290, 320]) + rnd.randint(0, 900)
        gone = rnd.random() < (.85 if n < 20 else .3)
        end = day + timedelta(days=rnd.randint(60, 600))
        lines.append(f"| M-{2201 + n} | {client} | {area} | {rnd.choice(partners)} | {day.isoformat()} | {end.isoformat() if gone else ''} | {hours} | {fees:,} | {rnd.choices(outcomes, weights=[6, 4, 3, 1])[0] if gone else ''} |")
    (DOCS / 'law_firm_matters.md').write_text('''# Halloran Abbott LLP: register of matters

This register is kept by the practice manager. It lists every matter that the firm opened since spring 2021, with the partner in charge and what has been billed so far.
A matter without a closing date is still running. Fees are in euros, before tax, and leave out disbursements such as court fees.

## Register

| Matter | Client | Practice area | Partner | Opened | Closed | Hours | Fees billed (EUR) | Outcome |
|---|---|---|---|---|---|---:|---:|---|
''' + '\n'.join(lines) + '''

## Notes

Hours are those of all fee earners together. The register is checked against the accounts at the end of each quarter. Conflicts checks are filed elsewhere.
''', encoding='utf-8')


def outpatients():
    """门诊量：两个年份，每年一张工作表，季度为列。"""
    rnd = random.Random(53)
    names = ['心内科', '呼吸内科', '消化内科', '神经内科', '内分泌科', '普外科', '骨科', '泌尿外科', '妇科', '产科', '儿科', '眼科', '耳鼻喉科', '口腔科', '皮肤科', '中医科', '康复科']
    heads = ['周海宁', '陆文博', '沈嘉禾', '高远', '何静怡', '郑立群', '马骁', '唐少川', '苏婉清', '林若兰', '谢以安', '彭朗', '罗思远', '曹敏之', '', '钟伯年', '叶青']
    base = {n: rnd.randint(3200, 14500) for n in names}
    doctors = {n: rnd.randint(5, 21) for n in names}
    book = openpyxl.Workbook()
    book.remove(book.active)
    for year in (2023, 2024):
        s = book.create_sheet(f'{year}年')
        s.append([f'青岚市第三人民医院{year}年各科室门诊量统计'])
        s['A1'].font = Font(bold=True, size=14)
        s.merge_cells('A1:I1')
        s.append(['单位：人次', None, None, None, None, None, None, '制表：门诊办公室'])
        s.append(['科室代码', '科室', '科主任', '医生人数', '第一季度', '第二季度', '第三季度', '第四季度', '全年'])
        sums = [0] * 5
        for n, name in enumerate(names):
            growth = 1 if year == 2023 else rnd.uniform(.9, 1.22)
            q = [round(base[name] * growth * rnd.uniform(.85, 1.15)) for _ in range(4)]
            q.append(sum(q))
            sums = [a + b for a, b in zip(sums, q)]
            head = heads[n] if year == 2024 or n != 14 else '温如玉'
            s.append([f'K{n + 1:02d}', name, head or None, doctors[name] + (0 if year == 2023 else rnd.choice([0, 0, 1, 1, 2])), *q])
        s.append(['合计', None, None, None, *sums])
        for c in s[s.max_row]:
            c.font = Font(bold=True)
    save(book, '各科室门诊量统计.xlsx')


def moulding():
    """注塑车间检验记录。"""
    rnd = random.Random(88)
    products = [('仪表盘支架', 'PP'), ('充电器外壳', 'ABS'), ('灯罩', 'PC'), ('齿轮', 'POM'), ('门把手', 'ABS'), ('水杯盖', 'PP'), ('连接器座', 'PA66')]
    flaws = ['飞边', '缩水', '气泡', '缺料', '划伤']
    count, day = {}, date(2024, 1, 3)
    with (DOCS / '注塑车间检验记录.csv').open('w', encoding='utf-8', newline='') as out:
        w = csv.writer(out, lineterminator='\n')
        w.writerow(['批号', '生产日期', '机台', '产品', '材料', '班次', '产量', '不良数', '主要缺陷', '检验员', '复检日期'])
        for n in range(84):
            day += timedelta(days=rnd.choice([1, 2, 2, 2, 3]))
            month = f'{day:%y%m}'
            count[month] = count.get(month, 0) + 1
            product, material = rnd.choice(products)
            made = rnd.randint(80, 620) * 10
            bad = rnd.randint(2, 95)
            again = (day + timedelta(days=rnd.randint(1, 6))).isoformat() if rnd.random() < .7 else ''
            w.writerow([f'ZS-{month}-{count[month]:02d}', day.isoformat(), f'{rnd.randint(1, 6)}号机', product, material, rnd.choice(['早班', '中班', '夜班']), made, bad, rnd.choice(flaws), rnd.choice(['丁文', '何晓燕', '邱建国', '汪敏', '严峰', '施雨']), again])


if __name__ == '__main__':
    DOCS.mkdir(exist_ok=True)
    for make in (el_nino, cars, crime, weather):
        make(sys.argv[1])
    for make in (service, matters, outpatients, moulding):
        make()
