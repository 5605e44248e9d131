import type { books as english } from "../en/books.ts"
import type { Translated } from "../Translated.ts"

export const books: Translated<typeof english> = {
  title: "财务",
  tabs: {
    costs: "成本与毛利",
    reconciliations: "对账",
    verify: "核验",
    pool: "余额与日记账",
    spend: "支出",
    charges: "收费记录",
    transfers: "充值与调整",
    money: "账单"
  },
  pool: { balance: "余额", held: "预扣", available: "可用" },
  low: {
    label: "低余额提醒（{{currency}}）",
    note: "余额低于此值时，通过 Webhook balance.low 提醒一次。留空表示不提醒。",
    done: "已设置低余额提醒线。"
  },
  history: {
    title: "余额与预扣变化",
    as: "显示方式",
    plot: "图表",
    table: "表格",
    whole: "完整日记账，精确，起自",
    part: "精确，起自",
    note: "收费计在下单时间，与月结单一致；预扣计在实际预扣的时间。",
    partNote: "在此之前下单、其后结束的订单，其预扣未计入。加载更多日记账可追溯到更早。",
    all: "加载完整日记账",
    moved: "读取日记账期间余额有变动：相差 {{rest}}。",
    again: "重新读取"
  },
  journal: {
    title: "日记账",
    empty: "暂无变动。",
    at: "时间",
    kind: "类型",
    amount: "金额",
    of: "订单或参考号",
    reference: "参考号",
    reason: "原因",
    author: "经办人",
    id: "分录"
  },
  form: {
    amount: "金额（{{currency}}）",
    reference: "参考号",
    referenceNote: "相同的参考号不会重复入账。",
    noAmount: "请填写大于零的金额，例如 12.5，最多九位小数",
    noAmountOrZero: "请填写金额，例如 12.5，最多九位小数",
    needed: "此项必填。",
    before: "此参考号此前已入账。余额为 {{balance}} {{currency}}。"
  },
  deposit: {
    title: "充值",
    open: "充值",
    go: "确认充值",
    done: "充值已入账。余额为 {{balance}} {{currency}}。",
    sum_one: "共 {{count}} 笔充值：",
    sum_other: "共 {{count}} 笔充值："
  },
  adjust: {
    title: "调整",
    open: "调整",
    correct: "退还此笔收费",
    go: "确认调整",
    kind: "类型",
    notes: {
      credit: "增加余额。",
      withdrawal: "减少余额，不超过可用金额。",
      correction: "退回一笔收费的全部或部分。"
    },
    usage: "用量记录",
    reason: "原因",
    reasonNote: "会显示在日记账和收据上。",
    never: "已入账的内容不会被修改：调整是一笔独立的分录。",
    done: "调整已入账。余额为 {{balance}} {{currency}}。",
    sum: "{{kind}}：{{count}} 笔，{{amount}}"
  },
  budgets: {
    lead: "订单必须满足其所属的每一项预算。",
    none: "还没有预算。",
    create: "新建预算",
    change: "修改",
    remove: "删除",
    removeText: "新订单不再受此限制。其他预算的已用金额不变。",
    scope: "范围",
    scopes: {
      organization: "组织",
      member: "成员",
      key: "密钥",
      cap: "成员的每月上限"
    },
    noSubject: "没有符合的名称。",
    period: "周期",
    periods: { day: "每天", month: "每月", total: "累计" },
    cap: "每月上限",
    thresholds: "提醒比例",
    thresholdsNote: "金额的百分比，例如 50, 80, 100。留空表示不提醒。",
    noPercents: "请填写 1 到 1000 的整数，例如 50, 80, 100",
    left: "剩余：",
    exceeded: "已超出",
    reached: "已用完",
    refused: "其范围内的新订单会被拒绝。",
    untold: "不发送提醒。",
    told: "达到 {{percents}} 时提醒",
    resets: "重新开始："
  },
  costs: {
    lead: "这些日期的订单所收取的费用，以及供应商的计费（以挂载所设成本为准）。",
    currency: "金额单位：{{currency}}。",
    day: "日期",
    without: "无成本记录",
    withoutReported: "无供应商上报",
    share: "毛利率"
  },
  verify: {
    lead: "网关会根据全部记录重新计算账目的每一项不变量，不做任何修改。",
    go: "立即核验",
    ok: "所有不变量均成立。",
    broken: "异常：{{count}} 项",
    took: "耗时 {{millis}} 毫秒，完成于",
    violations: "异常",
    invariant: "不变量",
    organization: "组织",
    subject: "位置",
    detail: "详情"
  },
  reconcile: {
    lead: "将供应商对某渠道的账单与本地账目比较。结果按当时的状态保存。",
    none: "还没有对过账。",
    open: "核对供应商账单",
    go: "开始核对",
    all: "全部对账",
    of: "{{channel}} 的账单",
    lines: "{{count}} 行",
    file: "供应商账单",
    fileNote: "CSV 文件，首行为列名",
    choose: "选择文件",
    channel: "渠道",
    period: "期间",
    from: "起始日",
    to: "截止日",
    wrongDays: "截止日不能早于起始日",
    format: "列格式",
    formatNote: "部分协议的供应商公开了账单格式。下方填写的列名优先。",
    own: "自行指定",
    columns: {
      id: "供应商 ID 所在列",
      amount: "金额所在列",
      units: "用量所在列",
      currency: "货币所在列"
    },
    amountOrUnits: "金额列与用量列至少填写一个。",
    signs: { decimal: "小数点", thousands: "千位分隔", delimiter: "单元格分隔" },
    sign: {
      none: "无",
      auto: "自动识别",
      named: "符号",
      named_point: "句点 .",
      named_comma: "逗号 ,",
      named_space: "空格",
      named_apostrophe: "撇号 '",
      named_semicolon: "分号 ;",
      named_tab: "制表符"
    },
    encoding: "编码",
    note: "有错误的账单会被整体拒绝，不保存任何内容。",
    faults: "账单中的错误",
    line: "行",
    column: "列",
    fault: "应为",
    totals: "结果汇总",
    kind: "类别",
    count: "条目",
    sides: {
      amount_here: "本地金额",
      amount_there: "对方金额",
      units_here: "本地用量",
      units_there: "对方用量",
      reported: "供应商上报"
    },
    kinds: {
      different: "不一致",
      missing_there: "对方缺失",
      missing_here: "本地缺失",
      orphan: "孤儿任务",
      matched: "一致"
    },
    meanings: {
      different: "双方都有，但不一致。",
      missing_there: "期间内已收费，但不在账单上。",
      missing_here: "在账单上，但本地未收费。",
      orphan: "在账单上，是本地已放弃的任务：可以据此申诉。",
      matched: "双方一致。"
    },
    entries: "条目",
    only: "筛选",
    everything: "全部",
    reason: "原因",
    vendorId: "供应商任务 ID",
    order: "订单",
    closed: "结束时间",
    download: "导出 CSV",
    remove: "删除",
    removeText: "将删除此次对账及其全部条目。账目本身不受影响。"
  }
}
