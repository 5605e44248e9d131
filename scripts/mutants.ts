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

const batch = "src/postgres/schema/5_move_funds.sql"
const functions = "src/postgres/schema/3_ledger.sql"

/** The place must occur once, so that a mutant is one change. */
interface Mutant {
  readonly name: string
  readonly file: string
  readonly place: string
  readonly becomes: string
}

const inBatch = (name: string, place: string, becomes: string): Mutant => ({
  name,
  file: batch,
  place,
  becomes
})

const mutants: ReadonlyArray<Mutant> = [
  inBatch(
    "pool not locked",
    "WHERE p.organization_id = p_organizations[wanted.o] FOR UPDATE) p;",
    "WHERE p.organization_id = p_organizations[wanted.o]) p;"
  ),
  inBatch("holds not locked", "AND h.id = wanted.id FOR UPDATE) h;", "AND h.id = wanted.id) h;"),
  inBatch(
    "tasks not locked",
    "AND t.id = wanted.id\n                FOR UPDATE) t;",
    "AND t.id = wanted.id) t;"
  ),
  inBatch(
    "holds locked in the order of arrival",
    'ORDER BY p_organizations[u.place] COLLATE "C", u.id COLLATE "C") wanted\n         CROSS',
    ") wanted\n         CROSS"
  ),
  inBatch("member months not locked", "mm.month FOR UPDATE) mm;", "mm.month) mm;"),
  inBatch(
    "closed holds close again",
    "WHEN k IS NULL OR h_states[k] <> 'open';",
    "WHEN k IS NULL;"
  ),
  inBatch(
    "task's state not compared",
    "t_states[m] IS DISTINCT FROM p_task_ends[i] ->> 'from'",
    "false"
  ),
  inBatch("task's claim not compared", "OR t_leases[m] <> (", "OR t_leases[m] = ("),
  inBatch(
    "cap compared with <",
    "ELSIF m_used[m] + p_amounts[i] > s_caps[s]",
    "ELSIF m_used[m] + p_amounts[i] >= s_caps[s]"
  ),
  inBatch("cap blind to its batch", "            m_used[m] := m_used[m] + p_amounts[i];\n", ""),
  inBatch("cap blind to what closes free", "        m_used[m] := m_used[m] - h_amounts[k];\n", ""),
  inBatch(
    "pool compared with <",
    "ELSIF p_amounts[i] > available[o] THEN",
    "ELSIF p_amounts[i] >= available[o] THEN"
  ),
  inBatch(
    "pool blind to its batch",
    "            available[o] := available[o] - p_amounts[i];\n",
    ""
  ),
  inBatch("pool of another organisation", "o := l_places[i];", "o := i;"),
  inBatch(
    "holds taken from the first pool",
    "          o := p_hold_places[i];",
    "          o := 1;"
  ),
  inBatch("known holds held again", "IF i = ANY (v_known) THEN", "IF false THEN"),
  inBatch("used keys order again", "ELSIF v_key = ANY (v_keys) THEN", "ELSIF false THEN"),
  inBatch("stop of spending ignored", "ELSIF o_stopped[o] THEN", "ELSIF false THEN"),
  inBatch(
    "charges not taken from the pool",
    "SET balance = p.balance - o_captured[l_places[i]],",
    "SET balance = p.balance,"
  ),
  inBatch("held money not returned", "p.held - o_freed[l_places[i]] + o_taken", "p.held + o_taken"),
  inBatch(
    "settled in the month it is by then",
    "h_members[k] || ' ' || h_months[k]);",
    "h_members[k] || ' ' || v_month);"
  ),
  inBatch("overage cut off", "h_overage[k] := greatest(p_charges[i] - h_amounts[k], 0);", "NULL;"),
  inBatch(
    "charge of another close",
    "captured = coalesce(p_charges[i], 0), closed_at",
    "captured = coalesce(p_charges[1], 0), closed_at"
  ),
  inBatch(
    "organisation dropped from a WHERE",
    "WHERE h.organization_id = p_organizations[u.place] AND h.id = u.id);",
    "WHERE h.id = u.id LIMIT 1);"
  ),
  {
    name: "deposit repeated as often as asked",
    file: functions,
    place: "RETURN CASE WHEN v_known = p_amount THEN 'repeated' ELSE 'mismatch' END;",
    becomes: "NULL;"
  }
]

/** True when the ledger's tests pass in the copy. */
const testsPass = async (copy: string): Promise<boolean> => {
  try {
    await execute(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--bail=1",
        "test/contract",
        "test/postgres/audit.test.ts"
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
  let alive = 0
  for (const [index, { name, file, place, becomes }] of mutants.entries()) {
    const path = join(copy, file)
    const original = await readFile(path, "utf8")
    if (original.split(place).length !== 2) throw new Error(`${name}: its place is not unique`)
    await writeFile(
      path,
      original.replace(place, () => becomes)
    )
    const survived = await testsPass(copy)
    await writeFile(path, original)
    if (survived) alive++
    console.log(`${String(index + 1).padStart(2)}  ${survived ? "ALIVE " : "killed"}  ${name}`)
  }
  console.log(`${mutants.length - alive} of ${mutants.length} killed`)
  process.exitCode = alive === 0 ? 0 : 1
} finally {
  await rm(copy, { recursive: true, force: true })
}
