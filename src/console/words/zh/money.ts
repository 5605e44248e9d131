import type { money as english } from "../en/money.ts"
import type { Translated } from "../Translated.ts"

export const money: Translated<typeof english> = {
  title: "账单",
  tabs: { spend: "支出", usage: "用量", statements: "月结单" },
  pool: {
    balance: "余额",
    held: "预扣",
    available: "可用",
    month: "本月",
    notes: {
      balance: "资金池现有金额",
      held: "为进行中的订单预留",
      available: "还可用于下单"
    }
  },
  bar: {
    said: "已收取 {{charged}}，预扣 {{held}}，上限 {{amount}} {{currency}}",
    endless: "已收取 {{charged}}，预扣 {{held}} {{currency}}；未设上限"
  },
  spend: {
    title: "支出趋势",
    own: "支出",
    note: "订单计入下单时间，退回的金额计入退回时间。日期按网关时区划分。",
    range: "时间范围",
    ranges: {
      "48h": "最近 48 小时",
      "7d": "最近 7 天",
      "31d": "最近 31 天",
      "12m": "最近 12 个月",
      own: "自定义"
    },
    from: "起始日",
    to: "截止日",
    interval: "粒度",
    steps: { hour: "小时", day: "天", month: "月" },
    by: "分组",
    all: "合计",
    groups: {
      model: "模型",
      modality: "模态",
      member: "成员",
      key: "密钥",
      organization: "组织",
      channel: "渠道",
      tag: "标签"
    },
    tag: "标签",
    needsTag: "请填写用于分组的标签名称，例如 project。",
    table: "表格",
    totals: "汇总",
    overTime: "按时间",
    previous: "上一时段{{measure}}",
    change: "变化",
    changeFrom: "较上一时段的 {{previous}} 变化 {{change}}",
    unknownChange: "变化未知",
    others: "其他",
    measure: "指标",
    measures: {
      charge: "收取",
      returned: "已退款",
      cost: "成本",
      margin: "毛利",
      reported_cost: "供应商上报成本"
    },
    start: "时间",
    count: "收费次数",
    failed: "失败",
    units: "用量",
    unit: "单位",
    unit_token: "token",
    unit_second: "秒",
    unit_image: "张",
    nothing: "此时间段内没有订单。"
  },
  usage: {
    title: "收费记录",
    tag: "标签",
    noTag: "请填写名称和内容，例如 project=lighthouse",
    csv: "导出 CSV",
    empty: "暂无收费。",
    at: "时间",
    month: "月份",
    model: "模型",
    unitPrice: "单价",
    tags: "标签"
  },
  receipt: {
    title: "收据",
    id: "用量记录",
    facts: "详情",
    hold: "预扣",
    charge: "收取",
    difference: "收取减预扣",
    corrected: "之后退款",
    formula: "预扣计算方式",
    exposure: "最高可能费用",
    basis: "用量来源",
    lines: {
      title: "计费明细",
      item: "项目",
      input: "输入",
      output: "输出",
      cached_input: "缓存输入 token",
      audio_input: "音频输入 token",
      image_input: "图像输入 token",
      audio_output: "音频输出 token",
      reference: "参考图"
    },
    resolution: "计费分辨率",
    entries: "日记账",
    accounts: "转出 → 转入",
    corrections: "更正"
  },
  kinds: {
    deposit: "充值",
    credit: "赠额",
    withdrawal: "提取",
    correction: "更正",
    hold: "预扣",
    capture: "收取",
    release: "释放"
  },
  statements: {
    one: "月结单",
    all: "全部月份",
    lead: "费用计入下单所在的月份。月份结束且没有进行中的订单后会被封账，此后不再变动。",
    month: "月份",
    open: "打开",
    state: "状态",
    unsealed: "未封账",
    openMonths: "仍可能变动的月份",
    sealedMonths: "已封账的月份",
    noneSealed: "还没有已封账的月份。",
    opening: "期初",
    closing: "期末",
    seal: "封账",
    print: "打印",
    files: { csv: "明细（CSV）", focus: "FOCUS（CSV）", json: "JSON", html: "网页（HTML）" },
    period: "{{from}} 至 {{to}}，{{zone}}。金额单位：{{currency}}。",
    balance: "余额",
    line: "项目",
    count: "笔数",
    amount: "金额（{{currency}}）",
    lines: {
      opening: "期初余额",
      deposits: "充值",
      charges: "收费",
      corrections: "收费更正",
      credits: "赠额",
      withdrawals: "提取",
      closing: "期末余额"
    },
    charged: { gross: "总额", returned: "退款", net: "净额" },
    movements: "充值与调整",
    moved: {
      at: "时间",
      kind: "类型",
      reference: "参考号",
      reason: "原因",
      author: "经办人",
      amount: "金额"
    },
    byModel: "按模型收费",
    byMember: "按成员收费",
    byTag: "按标签收费",
    names: { byModel: "模型", byMember: "成员", byTag: "标签" },
    nothing: "本月没有。",
    notSealed: "该月尚未封账。",
    stillOpen: "该月尚未封账：还有 {{count}} 个订单进行中，预扣 {{amount}} {{currency}}。",
    sealedAt: "已封账，共 {{count}} 条明细，时间："
  }
}
