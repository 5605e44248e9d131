export const books = {
  title: "Finance",
  tabs: {
    costs: "Costs and margin",
    reconciliations: "Reconciliation",
    verify: "Verify",
    pool: "Balance and journal",
    spend: "Spend",
    charges: "Charges",
    transfers: "Deposits and adjustments",
    money: "Billing"
  },
  pool: { balance: "Balance", held: "Held", available: "Available" },
  low: {
    label: "Low-balance alert, {{currency}}",
    note: "When the balance falls below this amount, the webhook balance.low is sent once. Leave empty for no alert.",
    done: "The low-balance alert was saved."
  },
  history: {
    title: "Balance and held over time",
    as: "View",
    plot: "Chart",
    table: "Table",
    whole: "Complete since",
    part: "Exact since",
    note: "Charges count at the time of the order, as in statements; holds count at their own time.",
    partNote:
      "Holds of earlier orders that have ended since are not counted. Load more of the journal to go further back.",
    all: "Load the whole journal",
    moved: "The balance changed during loading: {{rest}} is unaccounted for.",
    again: "Reload"
  },
  journal: {
    title: "Journal",
    empty: "No entries yet",
    at: "Time",
    kind: "Type",
    amount: "Amount",
    of: "Order or reference",
    reference: "Reference",
    reason: "Reason",
    author: "Created by",
    id: "Entry"
  },
  form: {
    amount: "Amount, {{currency}}",
    reference: "Reference",
    referenceNote: "Each reference is booked only once.",
    noAmount: "Enter a positive amount such as 12.5, with up to nine decimals.",
    noAmountOrZero: "Enter an amount such as 12.5, with up to nine decimals.",
    needed: "Required",
    before: "This reference was already booked. Balance: {{balance}} {{currency}}."
  },
  deposit: {
    title: "Deposits",
    open: "Add deposit",
    go: "Deposit",
    done: "The deposit was booked. Balance: {{balance}} {{currency}}.",
    sum_one: "{{count}} deposit:",
    sum_other: "{{count}} deposits:"
  },
  adjust: {
    title: "Adjustments",
    open: "Add adjustment",
    correct: "Refund this charge",
    go: "Book adjustment",
    kind: "Type",
    notes: {
      credit: "Adds to the balance.",
      withdrawal: "Takes from the balance, at most the available amount.",
      correction: "Refunds a charge or a part of it."
    },
    usage: "Usage record",
    reason: "Reason",
    reasonNote: "Shown in the journal and on the receipt.",
    never: "Existing entries never change: this adds an entry.",
    done: "The adjustment was booked. Balance: {{balance}} {{currency}}.",
    sum: "{{kind}}: {{count}}, {{amount}}"
  },
  budgets: {
    lead: "An order must fit into every budget that applies to it.",
    none: "No budgets yet",
    create: "New budget",
    change: "Edit",
    remove: "Remove",
    removeText: "The budget no longer limits new orders. Other budgets do not change.",
    scope: "Scope",
    scopes: {
      organization: "Organisation",
      member: "Member",
      key: "Key",
      cap: "Monthly cap of a member"
    },
    noSubject: "No matches",
    period: "Period",
    periods: { day: "per day", month: "per month", total: "in total" },
    cap: "monthly cap",
    thresholds: "Alert at",
    thresholdsNote: "Percentages of the amount, such as 50, 80, 100. Leave empty for no alert.",
    noPercents: "Enter whole numbers from 1 to 1000, such as 50, 80, 100.",
    left: "Remaining:",
    exceeded: "exceeded",
    reached: "used up",
    refused: "New orders in this scope are rejected.",
    untold: "No alerts",
    told: "Alerts at {{percents}}",
    resets: "Resets:"
  },
  costs: {
    lead: "Charges for the orders of these days, and their vendor costs where the mounts define them.",
    currency: "Amounts in {{currency}}.",
    day: "Day",
    without: "Unknown cost",
    withoutReported: "No vendor report",
    share: "Margin, %"
  },
  verify: {
    lead: "Checks every invariant of the ledger against all of its rows. It changes nothing.",
    go: "Verify now",
    ok: "All invariants hold.",
    broken: "Violations: {{count}}",
    took: "Finished in {{millis}} ms at",
    violations: "Violations",
    invariant: "Invariant",
    organization: "Organisation",
    subject: "Subject",
    detail: "Details"
  },
  reconcile: {
    lead: "Compares a vendor's bill for a channel with the ledger. Results are stored unchanged.",
    none: "No reconciliations yet",
    open: "New reconciliation",
    go: "Reconcile",
    all: "All reconciliations",
    of: "Bill of {{channel}}",
    lines: "{{count}} lines",
    file: "Vendor's bill",
    fileNote: "CSV with column names in the first line",
    choose: "Choose file",
    channel: "Channel",
    period: "Period",
    from: "From",
    to: "To",
    wrongDays: "The last day must not be before the first day.",
    format: "Format",
    formatNote: "Some protocols have a known format. The columns below override it.",
    own: "custom",
    columns: {
      id: "Job ID column",
      amount: "Amount column",
      units: "Units column",
      currency: "Currency column"
    },
    amountOrUnits: "Enter the amount column or the units column.",
    signs: {
      decimal: "Decimal separator",
      thousands: "Thousands separator",
      delimiter: "Delimiter"
    },
    sign: {
      none: "nothing",
      auto: "auto-detect",
      named: "character",
      named_point: "point .",
      named_comma: "comma ,",
      named_space: "space",
      named_apostrophe: "apostrophe '",
      named_semicolon: "semicolon ;",
      named_tab: "tab"
    },
    encoding: "Encoding",
    note: "A file with an error is rejected as a whole.",
    faults: "Errors in the file",
    line: "Line",
    column: "Column",
    fault: "Expected",
    totals: "Result",
    kind: "Type",
    count: "Entries",
    sides: {
      amount_here: "Gateway amount",
      amount_there: "Vendor amount",
      units_here: "Gateway units",
      units_there: "Vendor units",
      reported: "Reported"
    },
    kinds: {
      different: "Different",
      missing_there: "Missing at the vendor",
      missing_here: "Missing in the gateway",
      orphan: "Orphan",
      matched: "Matched"
    },
    meanings: {
      different: "In both, with different amounts.",
      missing_there: "Charged in the period, but not on the bill.",
      missing_here: "On the bill, but not charged here.",
      orphan: "On the bill, but an orphan here: it can be claimed back from the vendor.",
      matched: "Equal on both sides."
    },
    entries: "Entries",
    only: "Filter",
    everything: "All",
    reason: "Reason",
    vendorId: "Vendor job ID",
    order: "Order",
    closed: "Closed",
    download: "Export CSV",
    remove: "Remove",
    removeText: "The reconciliation and all of its entries are removed. The ledger does not change."
  }
} as const
