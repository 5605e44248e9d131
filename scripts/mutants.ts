/**
 * Breaks the ledger's SQL in one place after the other and runs the ledger's tests on each mutant,
 * in a copy of the working tree. A mutant that the tests let through is printed as alive, and the
 * run fails.
 *
 *   npm run mutants
 */
import { execFile } from "node:child_process"
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const execute = promisify(execFile)
const root = fileURLToPath(new URL("..", import.meta.url))

const moveFunds = "src/postgres/schema/5_move_funds.sql"
const ledger = "src/postgres/schema/3_ledger.sql"
const audit = "src/postgres/schema/6_audit.sql"

/** The place must occur once, so that a mutant is one change. */
type Mutant = readonly [name: string, place: string, becomes: string]

const mutantsOf: Readonly<Record<string, ReadonlyArray<Mutant>>> = {
  [moveFunds]: [
    [
      "pools not locked",
      "AND r.organization_id = p_organizations[wanted.o]\n           FOR UPDATE) r ON true;",
      "AND r.organization_id = p_organizations[wanted.o]) r ON true;"
    ],
    [
      "orders not locked",
      "AND r.id = wanted.id FOR UPDATE) r ON true;",
      "AND r.id = wanted.id) r ON true;"
    ],
    [
      "tasks not locked",
      "AND t.id = wanted.id\n             FOR UPDATE) t ON true;",
      "AND t.id = wanted.id) t ON true;"
    ],
    [
      "orders locked in the order of arrival",
      `u.id COLLATE "C") wanted
      LEFT JOIN LATERAL (
        SELECT r.ctid`,
      `u.i) wanted
      LEFT JOIN LATERAL (
        SELECT r.ctid`
    ],
    ["member months not locked", "r.month FOR UPDATE) r;", "r.month) r;"],
    [
      "closed orders close again",
      "CONTINUE WHEN order_states[first] IS DISTINCT FROM 'open';",
      "CONTINUE WHEN order_states[first] IS NULL;"
    ],
    [
      "task's state not compared",
      "(task_states[i] IS DISTINCT FROM p_task_ends[i] ->> 'from'",
      "(false"
    ],
    ["task's claim not compared", "OR task_leases[i] <> (", "OR task_leases[i] = ("],
    [
      "cap compared with <",
      "WHEN month_used[m] + p_amounts[i] > caps[s]",
      "WHEN month_used[m] + p_amounts[i] >= caps[s]"
    ],
    ["cap not checked", "WHEN month_used[m] + p_amounts[i] > caps[s]", "WHEN false"],
    ["cap blind to its batch", "      month_used[m] := month_used[m] + p_amounts[i];\n", ""],
    [
      "cap blind to what closes free",
      "month_used[m] - order_holds[i] + order_charges[first];",
      "month_used[m] + order_charges[first];"
    ],
    [
      "pool compared with <",
      "WHEN p_amounts[i] > available[o] THEN",
      "WHEN p_amounts[i] >= available[o] THEN"
    ],
    ["pool not checked", "WHEN p_amounts[i] > available[o] THEN", "WHEN false THEN"],
    ["pool blind to its batch", "      available[o] := available[o] - p_amounts[i];\n", ""],
    [
      "pool of another organisation",
      "array_agg(r.free ORDER BY wanted.o)",
      "array_agg(r.free ORDER BY wanted.o DESC)"
    ],
    [
      "pools locked in the order of arrival",
      'ORDER BY u.organization_id COLLATE "C") wanted\n      LEFT',
      "ORDER BY u.o) wanted\n      LEFT"
    ],
    [
      "holds taken from the first pool",
      "      o := p_hold_places[i];\n      s := p_hold_spenders[i];",
      "      o := 1;\n      s := p_hold_spenders[i];"
    ],
    [
      "known holds held again",
      "WHEN i = ANY (known_holds) THEN 'known'",
      "WHEN false THEN 'known'"
    ],
    ["used keys order again", "WHEN key_name = ANY (used_keys) THEN", "WHEN false THEN"],
    ["stop of spending ignored", "WHEN pool_stopped[o] THEN", "WHEN false THEN"],
    [
      "charges not taken from the pool",
      "SET balance = r.balance - charged[i],",
      "SET balance = r.balance,"
    ],
    ["held money not returned", "held = r.held - freed[i] + taken[i]", "held = r.held + taken[i]"],
    [
      "settled in the month it is by then",
      "order_members[i] || ' ' || order_months[i]);",
      "order_members[i] || ' ' || this_month);"
    ],
    ["overage cut off", "greatest(order_charges[first] - order_holds[first], 0);", "0;"],
    [
      "charge of another close",
      "charge = coalesce(p_charges[i], 0), closed_at",
      "charge = coalesce(p_charges[1], 0), closed_at"
    ],
    [
      "end of another charge",
      "order_months[i], order_holds[i], coalesce(p_charges[i], 0)",
      "order_months[i], order_holds[i], coalesce(p_charges[1], 0)"
    ],
    ["closed orders stay listed as open", "WHERE r.ctid = ended.place;", "WHERE false;"],
    ["a repeat in one call wins too", "order_states[first] := CASE", "order_states[i] := CASE"],
    [
      "organisation dropped from a WHERE",
      "WHERE r.organization_id = p_organizations[u.place] AND r.id = u.id);\n    IF p_keys",
      "WHERE r.id = u.id LIMIT 1);\n    IF p_keys"
    ]
  ],
  [ledger]: [
    [
      "deposit repeated as often as asked",
      "RETURN CASE WHEN v_known = p_amount THEN 'repeated' ELSE 'mismatch' END;",
      "NULL;"
    ],
    [
      "closed orders may be changed",
      "FOR EACH ROW WHEN (old.state <> 'open') EXECUTE",
      "FOR EACH ROW WHEN (false) EXECUTE"
    ]
  ],
  [audit]: [
    ["audit blind to balances", "FROM books WHERE balance <> moved\n", "FROM books WHERE false\n"],
    [
      "audit blind to what is held",
      "FROM books WHERE held <> open OR held < 0",
      "FROM books WHERE false"
    ],
    [
      "audit blind to months",
      "FROM months WHERE held <> open OR captured <> charged",
      "FROM months WHERE false"
    ],
    ["audit blind to ends", "WHERE o.closed_at IS DISTINCT FROM e.ended_at", "WHERE false"],
    ["audit blind to debts", "balance - held + overage < 0\n", "false\n"]
  ]
}

/** True when the ledger's tests pass in the copy. */
const testsPass = async (copy: string): Promise<boolean> => {
  try {
    await execute(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--bail=1",
        "test/contract/Ledger",
        "test/contract/Stores",
        "test/contract/TaskRepo",
        "test/postgres/ledger"
      ],
      { cwd: copy, maxBuffer: 64 * 1024 * 1024 }
    )
    return true
  } catch {
    return false
  }
}

const copy = await mkdtemp(join(tmpdir(), "media-gateway-mutants-"))
try {
  for (const entry of [
    "src",
    "test",
    "scripts",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts"
  ]) {
    await cp(join(root, entry), join(copy, entry), { recursive: true })
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"))

  if (!(await testsPass(copy))) throw new Error("the tests fail without any mutant")
  let [alive, count] = [0, 0]
  for (const [file, mutants] of Object.entries(mutantsOf)) {
    const path = join(copy, file)
    const original = await readFile(path, "utf8")
    for (const [name, place, becomes] of mutants) {
      if (original.split(place).length !== 2) throw new Error(`${name}: its place is not unique`)
      await writeFile(
        path,
        original.replace(place, () => becomes)
      )
      const survived = await testsPass(copy)
      if (survived) alive++
      console.log(`${String(++count).padStart(2)}  ${survived ? "ALIVE " : "killed"}  ${name}`)
    }
    await writeFile(path, original)
  }
  console.log(`${count - alive} of ${count} killed`)
  process.exitCode = alive === 0 ? 0 : 1
} finally {
  await rm(copy, { recursive: true, force: true })
}
