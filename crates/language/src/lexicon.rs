//! Maps English and Chinese words of one meaning to a common mark.
//!
//! The list is small: words of questions about tables and words of column names. So a Chinese
//! question finds an English column, and the reverse.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::words::{stem, words};

/// Words of one meaning, a line each. English words are listed as stems.
const GROUPS: &str = "
    approve approval authorize authorization license 批准 获批 审批 许可 核准 上市
    drug medicine medication product 药 药物 药品 新药 产品
    company manufacturer firm maker sponsor applicant 公司 企业 厂商 厂家 制造商 生产商 申请人
    supplier vendor 供应商 供货商 供方
    customer client 客户 顾客 买方
    condition indication disease illness 适应症 疾病 病症 病
    date day time when 日期 时间 日
    year annual yearly 年 年度 年份
    month monthly 月 月份
    quarter quarterly 季度 季
    type kind category class sort 类型 种类 类别 类
    name title 名称 名字 名
    number no id code 编号 号码 序号 号
    crane hoist 起重机 吊机
    machine equipment device unit asset 设备 机器 装置 机组
    part component spare 部件 零件 配件 备件 零部件
    port harbour harbor berth quay terminal 港口 港 码头 泊位
    repair fix overhaul 维修 修理 检修 修复
    maintenance service servicing upkeep 维护 保养 维保
    fault failure defect breakdown malfunction damage 故障 失效 损坏 缺陷
    incident event ticket accident 事件 事故 工单
    cause reason 原因 缘由
    downtime outage standstill 停机 停工 停用
    duration length lasted took hours 时长 工时 耗时 持续时间
    cost price expense spending amount sum fee 费用 成本 价格 金额 价钱 花费 开支 造价
    budget 预算
    order purchase procurement 订单 采购 购买
    contract agreement 合同 协议
    employee staff worker person people 员工 职工 人员 人
    technician engineer mechanic 技师 技术员 工程师 维修工
    department division team section 部门 处 科室 班组
    site location place town city 地点 位置 城市 站点
    country nation 国家 国
    region area district 地区 区域
    status state 状态 状况
    severity priority urgency 严重程度 优先级 等级
    weight mass load 重量 质量 载荷
    height 高度
    speed 速度
    temperature 温度
    patient subject participant 患者 病人 受试者
    trial study 试验 研究
    sale sales revenue turnover 销售 销售额 营业额 收入
    quantity count 数量 件数
    delivery shipment 交付 交货 发货
    inspection check audit test 检查 检验 巡检 检测
    report record entry 报告 记录
    document file paper 文件 文档
    project programme program 项目
    review assessment 审评 评审 审查
    designation status 资格 认定
    court 法院
    case lawsuit 案件 案
    law statute act regulation 法律 法规 条例
    article clause section 条款 条
";

static BY_WORD: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    let lines = GROUPS.lines().filter(|line| !line.trim().is_empty()).enumerate();
    let words = lines
        .flat_map(|(group, line)| line.split_whitespace().map(move |word| (stem(word), group)));
    // A word in two groups belongs to the first.
    words.fold(HashMap::new(), |mut by_word, (word, group)| {
        by_word.entry(word).or_insert(group);
        by_word
    })
});

/// The stems of a text's words, and a mark for each listed meaning, whatever word or language
/// expresses it.
pub fn concepts(text: &str) -> BTreeSet<String> {
    // Splits column names such as `approval_date` and `approvalDate`.
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut was_lower = false;
    for c in text.chars() {
        if was_lower && c.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase();
        spaced.push(if c == '_' { ' ' } else { c });
    }
    let stems = words(&spaced).into_iter().map(|word| stem(&word));
    stems.flat_map(|stem| [meaning(&stem), Some(stem)]).flatten().collect()
}

/// The mark of a stem's meaning, if the list has it.
pub fn meaning(stem: &str) -> Option<String> {
    BY_WORD.get(stem).map(|group| format!("#{group}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_share_their_marks() {
        let shared = |a: &str, b: &str| {
            concepts(a).intersection(&concepts(b)).filter(|mark| mark.starts_with('#')).count()
        };
        assert_eq!(shared("How many drugs were approved?", "批准了多少种药物"), 2);
        assert_eq!(shared("approval_date", "获批日期"), 2);
        assert_eq!(shared("companyName", "哪家公司"), 1);
        assert_eq!(shared("crane", "供应商"), 0);
    }
}
