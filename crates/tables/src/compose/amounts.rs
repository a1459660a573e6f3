//! Distinguishes amounts, which add up over rows and periods, from levels, which do not.

use super::Composer;
use crate::scope::ColumnPlace;
use crate::units::unit_of;

/// Words in names of columns whose values are averaged over a longer period. Their sum means nothing.
const LEVELS: [&str; 28] = [
    "temperature",
    "temp",
    "price",
    "rate",
    "percent",
    "percentage",
    "pct",
    "ratio",
    "share",
    "speed",
    "age",
    "level",
    "concentration",
    "index",
    "average",
    "avg",
    "mean",
    "humidity",
    "pressure",
    "rating",
    "score",
    "depth",
    "height",
    "width",
    "density",
    "unemployment",
    "inflation",
    "interest",
];
const LEVELS_ZH: [&str; 20] = [
    "温", "价", "率", "速", "龄", "浓度", "指数", "平均", "湿度", "气压", "压力", "评分", "得分",
    "水位", "深度", "高度", "密度", "比例", "占比", "比重",
];
/// Words in names of columns whose values are added up over a longer period.
const AMOUNTS: [&str; 58] = [
    "use",
    "usage",
    "electricity",
    "cost",
    "costs",
    "revenue",
    "sales",
    "amount",
    "quantity",
    "qty",
    "production",
    "output",
    "precipitation",
    "precip",
    "rain",
    "rainfall",
    "snow",
    "snowfall",
    "passengers",
    "deaths",
    "votes",
    "consumption",
    "expense",
    "expenses",
    "income",
    "profit",
    "hours",
    "downtime",
    "spending",
    "generation",
    "visitors",
    "orders",
    "exports",
    "imports",
    "total",
    "yield",
    "waste",
    "arrears",
    "budget",
    "budgets",
    "payment",
    "payments",
    "births",
    "donations",
    "marriages",
    "divorces",
    "accidents",
    "injuries",
    "incidents",
    "units",
    "tickets",
    "bookings",
    "complaints",
    "calls",
    "cases",
    "trips",
    "arrivals",
    "departures",
];
/// Units of values that are added up over a longer period.
const ADDITIVE: [&str; 22] = [
    "cny", "万元", "亿元", "usd", "eur", "gbp", "jpy", "keur", "mwh", "kwh", "kg", "t", "l", "件",
    "人", "人次", "次", "台", "辆", "份", "张", "h",
];
const AMOUNTS_ZH: [&str; 33] = [
    "用电",
    "用水",
    "能耗",
    "费",
    "额",
    "收入",
    "销量",
    "产量",
    "数量",
    "成本",
    "支出",
    "利润",
    "次数",
    "人次",
    "雨量",
    "降水",
    "死亡",
    "工时",
    "时长",
    "发电量",
    "用量",
    "件数",
    "总量",
    "客流",
    "金额",
    "预算",
    "出生人数",
    "结婚",
    "离婚",
    "事故",
    "投诉",
    "伤亡",
    "订单",
];
/// Units of values that are averaged.
const UNITS_OF_LEVELS: [&str; 5] = ["%", "°", "ppm", "/", "‰"];

impl Composer<'_> {
    /// Whether a column holds a level, by its unit and its name: a temperature, a price, a rate.
    pub(super) fn is_level(&self, place: ColumnPlace) -> bool {
        let unit = self.scope.column(place).and_then(|column| column.unit.as_deref());
        let has_unit = unit.is_some_and(|unit| UNITS_OF_LEVELS.iter().any(|it| unit.contains(it)));
        has_unit || self.has_name_with(place, &LEVELS, &LEVELS_ZH)
    }

    /// Whether a column holds amounts, by its name: a cost, a yield, a quantity.
    pub(super) fn is_amount(&self, place: ColumnPlace) -> bool {
        let is_named = || self.has_name_with(place, &AMOUNTS, &AMOUNTS_ZH);
        !self.is_level(place) && (is_named() || self.adds_up_over_periods(place))
    }

    /// Whether a column is the only measure of a table over periods, in a unit that adds up.
    fn adds_up_over_periods(&self, place: ColumnPlace) -> bool {
        let unit = self.scope.column(place).and_then(|column| column.unit.as_deref());
        let unit = unit.map(str::to_lowercase);
        let unit = unit.as_deref().map(|unit| unit_of(unit).unwrap_or(unit));
        unit.is_some_and(|unit| ADDITIVE.contains(&unit))
            && self.scope.only_measure() == Some(place)
            && self.is_over_periods()
    }

    fn has_name_with(&self, place: ColumnPlace, english: &[&str], chinese: &[&str]) -> bool {
        let Some(column) = self.scope.column(place) else { return false };
        let words = crate::pieces::pieces(&column.name);
        let words = words.iter().flat_map(|piece| piece.folded.split('_'));
        words.into_iter().any(|word| english.contains(&word))
            || chinese.iter().any(|part| column.name.contains(part))
    }
}
