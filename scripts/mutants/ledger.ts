/**
 * Mutants of the ledger's SQL: the function that moves money, transfers, budgets, sums of usage and
 * the audit.
 */
import { type Mutant, mutantsIn } from "./mutant.ts"

const moveFunds = "src/postgres/schema/moveFunds.sql"
const ledger = "src/postgres/schema/ledger.sql"
const tasks = "src/postgres/schema/tasks.sql"
const sums = "src/features/usage/usageSums.sql"
const budgets = "src/features/budgets/budgets.sql"
const audit = "src/postgres/schema/audit.sql"

/** Locks, and what detects a write beside them, show only between transactions. */
const concurrency = "concurrent transactions"

export const ledgerMutants: ReadonlyArray<Mutant> = mutantsIn({
  [moveFunds]: [
    [
      "pools not locked",
      "\n                          FOR UPDATE) p ON true;",
      ") p ON true;",
      concurrency
    ],
    [
      "pools locked in another order",
      'ORDER BY m.organization_id COLLATE "C"),',
      'ORDER BY m.organization_id COLLATE "C" DESC),',
      concurrency
    ],
    ["tasks not locked", "\n                             FOR UPDATE) t;", ") t;", concurrency],
    [
      "rows that were moved by a hand are passed over",
      "IF NOT is_complete THEN",
      "IF false THEN",
      concurrency
    ],
    ["closed orders close again", "coalesce(o.state = 'open' AND (", "coalesce(true AND ("],
    ["task's state not compared", "SELECT t.state = c.task_end ->> 'from'", "SELECT true"],
    [
      "task's claim not compared",
      "AND t.lease = coalesce((c.task_end ->> 'lease')::bigint, t.lease)",
      "AND true"
    ],
    [
      "a repeat in one call wins too",
      "applies AND i = first_value(i) OVER by_order AS wins",
      "applies AS wins"
    ],
    [
      "the last of two closes wins",
      "ORDER BY applies DESC, i)",
      "ORDER BY applies DESC, i DESC)",
      "a certain order of closes"
    ],
    ["a close that does not apply hides one that does", "ORDER BY applies DESC, i)", "ORDER BY i)"],
    [
      "charge of another close",
      "SET state = w.state, charge = w.charged,",
      "SET state = w.state, charge = (SELECT min(charged) FROM won),"
    ],
    [
      "month's held money not returned",
      "UPDATE member_months r SET held = r.held - s.freed,",
      "UPDATE member_months r SET held = r.held,"
    ],
    [
      "charges not counted in the month",
      "UPDATE member_months r SET held = r.held - s.freed, captured = r.captured + s.charged",
      "UPDATE member_months r SET held = r.held - s.freed, captured = r.captured"
    ],
    [
      "charges not counted in their budgets",
      "UPDATE budget_uses r SET held = r.held - s.freed, captured = r.captured + s.charged",
      "UPDATE budget_uses r SET held = r.held - s.freed, captured = r.captured"
    ],
    [
      "settled in the month it is by then",
      "AND m.month = w.month\n",
      "AND m.month = date_trunc('month', now() AT TIME ZONE p_time_zone)::date\n"
    ],
    [
      "charges not taken from the pool",
      "UPDATE pools r SET balance = r.balance - s.charged,",
      "UPDATE pools r SET balance = r.balance,"
    ],
    [
      "held money not returned",
      "SET balance = r.balance - s.charged, held = r.held - s.freed",
      "SET balance = r.balance - s.charged, held = r.held"
    ],
    ["overage cut off", "greatest(new_charge - hold, 0),", "0::bigint,"],
    [
      "organisation dropped from a close",
      "WHERE r.organization_id = c.organization_id AND r.id = c.order_id\n             AND (p_organization IS NULL OR r.organization_id = p_organization) OFFSET 0) o ON true",
      "WHERE r.id = c.order_id LIMIT 1) o ON true"
    ],
    [
      "answers of closes that lost are kept",
      "WHERE c.outcome = 'won' AND c.answer IS NOT NULL",
      "WHERE c.answer IS NOT NULL"
    ],
    [
      "keys of closes that lost are forgotten",
      "WHERE c.outcome = 'won' AND c.frees_key",
      "WHERE c.frees_key"
    ],
    [
      "budget compared with <",
      "IF request.amount > budgets.rooms[n] - spent[n] THEN",
      "IF request.amount >= budgets.rooms[n] - spent[n] THEN"
    ],
    [
      "budgets not looked up",
      "IF EXISTS (SELECT FROM budgets r\n",
      "IF false AND EXISTS (SELECT FROM budgets r\n"
    ],
    [
      "budgets looked up in the first organisation only",
      "r.organization_id = ANY (p_organizations)\n",
      "r.organization_id = p_organizations[1]\n"
    ],
    ["budget not checked", "IF request.amount > budgets.rooms[n] - spent[n] THEN", "IF false THEN"],
    ["budget blind to its batch", "> budgets.rooms[n] - spent[n] THEN", "> budgets.rooms[n] THEN"],
    [
      "a budget after the others is not looked at",
      "        EXIT;\n      END IF;",
      "      END IF;\n      EXIT;"
    ],
    [
      "held by a budget, not given back",
      "SET held = r.held - s.freed, captured = r.captured + s.charged\n      FROM (SELECT (SELECT b.ctid",
      "SET held = r.held, captured = r.captured + s.charged\n      FROM (SELECT (SELECT b.ctid"
    ],
    [
      "charged, and not to the budget",
      "SET held = r.held - s.freed, captured = r.captured + s.charged\n      FROM (SELECT (SELECT b.ctid",
      "SET held = r.held - s.freed, captured = r.captured\n      FROM (SELECT (SELECT b.ctid"
    ],
    [
      "held, and not by the budget",
      "UPDATE budget_uses r SET held = r.held + s.amount",
      "UPDATE budget_uses r SET held = r.held"
    ],
    [
      "a budget's refusal is not told",
      "UPDATE budget_uses r SET has_refused = true",
      "UPDATE budget_uses r SET has_refused = false"
    ],
    ["what is closed is not summed up", "IF order_ids IS NOT NULL THEN", "IF false THEN"],
    [
      "pool compared with <",
      "WHEN request.amount > available[request.pool]",
      "WHEN request.amount >= available[request.pool]"
    ],
    ["pool not checked", "WHEN request.amount > available[request.pool]", "WHEN false"],
    [
      "pool blind to its batch",
      "    available[request.pool] := available[request.pool] - request.amount;\n",
      ""
    ],
    [
      "pool of another organisation",
      "available[request.pool] := coalesce(available[request.pool], request.free);",
      "available[request.pool] := coalesce(available[1], request.free);"
    ],
    [
      "exposures not looked at",
      "WHEN uncovered[request.pool] > 0 AND request.amount > cover",
      "WHEN false"
    ],
    [
      "exposures compared with <",
      "AND request.amount > cover THEN",
      "AND request.amount >= cover THEN"
    ],
    [
      "exposure of the order itself counts",
      "AND request.amount > cover THEN",
      "AND request.amount + excess > cover THEN"
    ],
    [
      "exposures blind to their batch",
      "    uncovered[request.pool] := uncovered[request.pool] + excess;\n",
      ""
    ],
    [
      "exposures of another organisation",
      "uncovered[request.pool] := coalesce(uncovered[request.pool], request.uncovered);",
      "uncovered[request.pool] := coalesce(uncovered[1], request.uncovered);"
    ],
    [
      "exposures without credit",
      "cover := available[request.pool] + request.credit - uncovered[request.pool];",
      "cover := available[request.pool] - uncovered[request.pool];"
    ],
    [
      "holds on credit",
      "CASE WHEN r.holds_on_credit THEN r.credit ELSE 0 END AS free",
      "r.credit AS free"
    ],
    [
      "what is left for exposures not told",
      "CASE outcome WHEN 'overexposed' THEN cover ELSE",
      "CASE outcome WHEN 'nothing' THEN cover ELSE"
    ],
    [
      "exposures not written to the pool",
      "uncovered = r.uncovered + s.excess",
      "uncovered = r.uncovered"
    ],
    ["exposures not given back", "uncovered = r.uncovered - s.excess", "uncovered = r.uncovered"],
    ["exposures not written to the order", "h.exposure, h.quote,", "NULL, h.quote,"],
    ["a vendor's count not kept", "c.orphan -> 'usage'", "NULL"],
    ["known holds held again", "WHEN request.is_known THEN 'known'", "WHEN false THEN 'known'"],
    ["used keys order again", "WHEN request.is_key_used OR is_key_taken", "WHEN is_key_taken"],
    [
      "keys used in one call order again",
      "WHEN request.is_key_used OR is_key_taken[request.first_of_key] THEN",
      "WHEN request.is_key_used THEN"
    ],
    ["stop of spending ignored", "WHEN request.is_stopped THEN", "WHEN false THEN"],
    [
      "organisation dropped from a hold",
      "WHERE r.organization_id = h.organization_id AND r.id = h.id\n               AND (p_organization IS NULL OR r.organization_id = p_organization)) AS is_known",
      "WHERE r.id = h.id LIMIT 1) AS is_known"
    ],
    [
      "refused holds are written",
      "AS h WHERE h.outcome = 'held';\n  INSERT INTO member_months",
      "AS h;\n  INSERT INTO member_months"
    ],
    ["holds not counted in the month", "SET held = r.held + excluded.held;", "SET held = r.held;"],
    [
      "holds not taken from the pool",
      "UPDATE pools r SET held = r.held + s.amount",
      "UPDATE pools r SET held = r.held"
    ]
  ],
  [ledger]: [
    [
      "transfers repeated as often as asked",
      "THEN 'repeated' ELSE 'mismatch' END;\n    RETURN;",
      "THEN 'repeated' ELSE 'mismatch' END;"
    ],
    [
      "transfers of another kind taken for repeats",
      "(v_known.kind, v_known.amount,",
      "(p_kind, v_known.amount,"
    ],
    [
      "transfers of another amount taken for repeats",
      "(v_known.kind, v_known.amount,",
      "(v_known.kind, p_amount,"
    ],
    [
      "transfers of another order taken for repeats",
      "v_known.reason, v_known.order_id)",
      "v_known.reason, p_order)"
    ],
    [
      "transfers for another reason taken for repeats",
      "v_known.reason, v_known.order_id)",
      "p_reason, v_known.order_id)"
    ],
    [
      "corrections above the charge",
      "IF p_amount > free THEN outcome := 'beyond_charge'",
      "IF false THEN outcome := 'beyond_charge'"
    ],
    [
      "corrections that forget those before",
      "SELECT o.charge - coalesce((",
      "SELECT o.charge - 0 * coalesce(("
    ],
    [
      "corrections of what was not charged",
      "o.id = p_order AND o.state = 'captured'",
      "o.id = p_order"
    ],
    [
      "withdrawals above what is available",
      "IF p_amount > free THEN outcome := 'insufficient_balance'",
      "IF false THEN outcome := 'insufficient_balance'"
    ],
    [
      "withdrawals of what is held",
      "free := v_pool.balance - v_pool.held",
      "free := v_pool.balance"
    ],
    ["withdrawals that add", "THEN p_amount ELSE -p_amount END", "THEN p_amount ELSE p_amount END"],
    [
      "transfers that move nothing",
      "UPDATE pools SET balance = balance + CASE",
      "UPDATE pools SET balance = balance + 0 * CASE"
    ],
    [
      "closed orders may be changed",
      "FOR EACH ROW WHEN (old.state <> 'open') EXECUTE",
      "FOR EACH ROW WHEN (false) EXECUTE"
    ]
  ],
  [tasks]: [
    [
      "open orders without tasks not found",
      "WHERE o.created_at >= settled AND o.state = 'open'\n",
      "WHERE o.created_at >= settled AND false\n"
    ],
    [
      "what lingers is not listed",
      "o.created_at < becomes AND o.state = 'open'",
      "o.created_at < becomes AND false"
    ]
  ],
  [budgets]: [
    [
      "the widest budget is named",
      "ARRAY['key', 'member', 'organization'], b.scope)",
      "ARRAY['organization', 'member', 'key'], b.scope)"
    ],
    [
      "the longest budget is named",
      "ARRAY['day', 'month', 'total'], b.period)",
      "ARRAY['total', 'month', 'day'], b.period)"
    ],
    ["the largest budget is named", "b.period), b.amount,", "b.period), -b.amount,"],
    [
      "budgets of keys do not count",
      "AND r.subject_id IN (u.organization_id, u.member_id, u.key_id)\n            AND",
      "AND r.subject_id IN (u.organization_id, u.member_id)\n            AND"
    ],
    [
      "budgets of another hold of the batch",
      "SELECT array_agg(u.places ORDER BY h.i) AS places",
      "SELECT array_agg(u.places ORDER BY -h.i) AS places"
    ],
    [
      "counted in the budgets of another hold of the batch",
      "array_agg(u.ids ORDER BY h.i) AS ids",
      "array_agg(u.ids ORDER BY -h.i) AS ids"
    ],
    ["a budget's next period does not begin", "EXIT WHEN have_begun;", "EXIT WHEN true;"],
    [
      "a budget's room without what was charged",
      "SELECT b.amount - r.held - r.captured AS room",
      "SELECT b.amount - r.held AS room"
    ],
    [
      "a budget's refusal forgets its batch",
      "(s.held + s.captured + p_used)::text",
      "(s.held + s.captured)::text"
    ],
    [
      "a new budget forgets what is held",
      "coalesce(sum(hold), 0)::bigint INTO open_holds",
      "coalesce(0 * sum(hold), 0)::bigint INTO open_holds"
    ],
    [
      "a new budget forgets what was charged",
      "coalesce(sum(s.charge), 0)::bigint AS captured",
      "coalesce(0 * sum(s.charge), 0)::bigint AS captured"
    ],
    [
      "a new budget counts everybody's charges",
      "AND budget.subject_id IN (s.organization_id, s.member_id, s.key_id)",
      ""
    ],
    [
      "a new budget counts what ended before its period",
      "ELSE 'month' END AND s.start >= begun",
      "ELSE 'month' END"
    ],
    [
      "open orders do not count in a new budget",
      "SET counts_in = r.counts_in || budget.use",
      "SET counts_in = r.counts_in"
    ],
    [
      "a changed budget tells by what it was",
      "SET next_threshold_amount =\n           next_threshold_amount(budget.amount, budget.thresholds, notified_threshold)",
      "SET next_threshold_amount = next_threshold_amount"
    ],
    [
      "any organisation's budget is changed",
      "   WHERE organization_id = p_organization AND id = p_budget\n  RETURNING",
      "   WHERE id = p_budget\n  RETURNING"
    ]
  ],
  [sums]: [
    [
      "corrections summed up as charges",
      "(u.returned IS NULL AND o.state = 'captured')::int",
      "(o.state = 'captured')::int"
    ],
    [
      "failures summed up as charges",
      "(u.returned IS NULL AND o.state = 'captured')::int",
      "(u.returned IS NULL)::int"
    ],
    [
      "months not summed up",
      "(VALUES ('hour'), ('day'), ('month')) AS step(name)\n     GROUP",
      "(VALUES ('hour'), ('day')) AS step(name)\n     GROUP"
    ],
    ["sums written over", "charge = s.charge + excluded.charge", "charge = excluded.charge"]
  ],
  [audit]: [
    [
      "audit blind to sums of usage",
      "HAVING (sum(count), sum(failed)",
      "HAVING false AND (sum(count), sum(failed)"
    ],
    ["audit blind to budgets", "(b.held <> coalesce(o.held, 0)\n", "(false\n"],
    [
      "audit blind to what budgets were charged",
      "OR p_from = '-infinity' AND b.captured <>",
      "OR false AND b.captured <>"
    ],
    ["audit blind to balances", "FROM books WHERE balance <> moved\n", "FROM books WHERE false\n"],
    [
      "audit blind to corrections above the charge",
      "WHERE o.organization_id = c.organization_id AND o.id = c.order_id\n                    AND (p_organization IS NULL OR o.organization_id = p_organization)), 0)",
      "WHERE o.organization_id = c.organization_id AND o.id = c.order_id\n                    AND (p_organization IS NULL OR o.organization_id = p_organization)), 0) + 1000000"
    ],
    [
      "audit blind to what is held",
      "FROM books WHERE held <> open OR held < 0",
      "FROM books WHERE false"
    ],
    [
      "audit blind to exposures",
      "FROM books WHERE uncovered <> open_excess",
      "FROM books WHERE false"
    ],
    [
      "audit blind to exposures of quotes",
      "FROM touched WHERE quoted_exposure IS DISTINCT FROM exposure::text",
      "FROM touched WHERE false"
    ],
    [
      "audit blind to months",
      "FROM months WHERE held <> open OR captured <> charged",
      "FROM months WHERE false"
    ],
    [
      "audit blind to orders that no sweep finds",
      "WHERE state = 'open' AND created_at < settled",
      "WHERE false AND created_at < settled"
    ],
    [
      "audit blind to what was charged",
      "SELECT * FROM touched WHERE closed_at >= p_from",
      "SELECT * FROM touched WHERE false"
    ],
    [
      "audit blind to the credit that holds used",
      "balance - held + overage + highest_overdraft < 0",
      "balance - held + overage < 0"
    ],
    [
      "audit blind to surcharges",
      "state = 'captured' AND (parts IS NOT NULL OR surcharge IS NOT NULL)",
      "false"
    ],
    ["audit blind to debts", "overage + highest_overdraft < 0\n", "overage < 0 AND false\n"]
  ]
})
