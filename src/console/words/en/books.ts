export const books = {
  title: "Books",
  tabs: {
    organizations: "Organisations",
    costs: "Costs and margin",
    reconciliations: "Reconciliation",
    verify: "Verify",
    pool: "Pool and journal",
    spend: "Spend",
    charges: "Charges",
    transfers: "Deposits and adjustments",
    budgets: "Budgets and caps",
    statements: "Statements"
  },
  disabled: "disabled",
  stopped: "The organisation takes no orders, as its books are broken:",
  stoppedShort: "stopped",
  spendOfAll: "What orders came to",
  pool: { balance: "Balance", held: "Held", available: "Available" },
  organizations: {
    title: "Organisations",
    name: "Name",
    id: "Id",
    count: "Organisations",
    created: "Made",
    search: "Name begins with",
    disabled: "Disabled ones, too",
    none: "There is no such organisation."
  },
  low: {
    label: "Low balance, {{currency}}",
    short: "Low balance",
    note: "Below it the webhook balance.low tells of it once. Empty is never.",
    done: "The low balance was set."
  },
  history: {
    title: "Balance and held over time",
    as: "Balance shown as",
    plot: "Plot",
    table: "Table",
    whole: "The whole journal, exact, since",
    part: "Exact since",
    note: "A charge stands where its order was placed, as in statements; what was held stands when it was held.",
    partNote:
      "Holds of orders that were placed before that and have ended since are not counted. More of the journal reaches further back.",
    all: "Load the whole journal",
    moved: "The pool moved while its journal was read: {{rest}} are left over.",
    again: "Read it again"
  },
  journal: {
    title: "Journal",
    empty: "Nothing has moved yet.",
    at: "Time",
    kind: "Kind",
    amount: "Amount",
    of: "Order or reference",
    reference: "Reference",
    reason: "Reason",
    author: "By",
    id: "Entry"
  },
  form: {
    amount: "Amount, {{currency}}",
    reference: "Reference",
    referenceNote: "The same reference again moves nothing more.",
    noAmount: "An amount above zero such as 12.5, with at most nine decimals",
    noAmountOrZero: "An amount such as 12.5, with at most nine decimals",
    needed: "This is needed.",
    before: "This reference was booked before. The pool has {{balance}} {{currency}}."
  },
  deposit: {
    title: "Deposits",
    open: "Make a deposit",
    go: "Deposit",
    done: "The deposit is booked. The pool has {{balance}} {{currency}}.",
    sum: "{{count}} deposits:"
  },
  adjust: {
    title: "Adjustments",
    open: "Adjust",
    correct: "Correct this charge",
    go: "Book the adjustment",
    kind: "Kind",
    notes: {
      credit: "Gives the pool something.",
      withdrawal: "Takes something out of the pool, no more than is available.",
      correction: "Gives back a charge, or a part of it."
    },
    usage: "Usage record",
    reason: "Reason",
    reasonNote: "The journal and the receipt tell it.",
    never: "Nothing that was booked is changed: this is an entry of its own.",
    done: "The adjustment is booked. The pool has {{balance}} {{currency}}.",
    sum: "{{kind}}: {{count}}, {{amount}}"
  },
  budgets: {
    lead: "An order must fit into every budget that it falls under.",
    none: "There is no budget yet.",
    create: "New budget",
    change: "Change",
    remove: "Remove",
    removeText: "New orders are no longer held to it. What is used of the others stays.",
    scope: "Whose orders count",
    scopes: {
      organization: "The whole organisation",
      member: "A member",
      key: "A key",
      cap: "A member's monthly cap"
    },
    noSubject: "There is none of that name.",
    period: "Period",
    periods: { day: "per day", month: "per month", total: "in total" },
    cap: "monthly cap",
    thresholds: "Tell at",
    thresholdsNote: "Percents of the amount, such as 50, 80, 100. Empty is never.",
    noPercents: "Whole numbers from 1 to 1000, such as 50, 80, 100",
    left: "Left:",
    exceeded: "exceeded",
    reached: "used up",
    refused: "New orders that fall under it are refused.",
    untold: "Nobody is told of it.",
    told: "Told at {{percents}}",
    resets: "Begins again:"
  },
  costs: {
    lead: "What was charged for the orders of these days, and what vendors bill for them as far as their mounts tell.",
    currency: "Amounts in {{currency}}.",
    day: "Day",
    without: "Without a cost",
    withoutReported: "Without a report",
    share: "Margin, %"
  },
  verify: {
    lead: "The gateway recomputes every invariant of the books from all of their rows. It changes nothing.",
    go: "Verify now",
    ok: "Every invariant holds.",
    broken: "Violations: {{count}}",
    took: "It took {{millis}} ms, and ended at",
    violations: "Violations",
    invariant: "Invariant",
    organization: "Organisation",
    subject: "Found at",
    detail: "What was found"
  },
  reconcile: {
    lead: "What a vendor bills for a channel, compared with what the books say. What was found is kept as it was then.",
    none: "No list has been compared yet.",
    open: "Compare a vendor's list",
    go: "Compare",
    all: "All reconciliations",
    of: "List of {{channel}}",
    lines: "{{count}} lines",
    file: "The vendor's list",
    fileNote: "CSV, with the names of its columns in the first line",
    choose: "Choose a file",
    channel: "Channel",
    period: "Period",
    from: "First day",
    to: "Last day",
    wrongDays: "A day that is not before the first one",
    format: "Columns",
    formatNote:
      "Of some protocols the vendors describe their bills. What you name below counts instead.",
    own: "those I name",
    columns: {
      id: "Column of the vendor's id",
      amount: "Column of the amount",
      units: "Column of the units",
      currency: "Column of the currency"
    },
    amountOrUnits: "The column of the amount or that of the units is needed.",
    signs: {
      decimal: "Before decimals",
      thousands: "Between thousands",
      delimiter: "Between cells"
    },
    sign: {
      none: "nothing",
      auto: "found out",
      named: "sign",
      named_point: "point .",
      named_comma: "comma ,",
      named_space: "space",
      named_apostrophe: "apostrophe '",
      named_semicolon: "semicolon ;",
      named_tab: "tab"
    },
    encoding: "Encoding",
    note: "A list with a fault is refused as a whole, and nothing of it is kept.",
    faults: "Faults of the list",
    line: "Line",
    column: "Column",
    fault: "Expected",
    totals: "What came of it",
    kind: "What it is",
    count: "Entries",
    sides: {
      amount_here: "Amount here",
      amount_there: "Amount there",
      units_here: "Units here",
      units_there: "Units there",
      reported: "Reported"
    },
    kinds: {
      different: "different",
      missing_there: "missing there",
      missing_here: "missing here",
      orphan: "orphan",
      matched: "matched"
    },
    meanings: {
      different: "In both, and not the same.",
      missing_there: "Charged in the period, and not on the list.",
      missing_here: "On the list, and not charged here.",
      orphan: "On the list, and a job of ours that was given up: it can be claimed.",
      matched: "The same on both sides."
    },
    entries: "Entries",
    only: "Show",
    everything: "everything",
    reason: "Reason",
    vendorId: "Vendor's id",
    order: "Order",
    closed: "Closed",
    download: "Download all entries (CSV)",
    remove: "Remove",
    removeText: "The reconciliation and all of its entries are removed. The books stay as they are."
  }
} as const
