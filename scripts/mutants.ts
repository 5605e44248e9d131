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

const batch = "src/postgres/migrations/0008_ledger_batch.ts"
const functions = "src/postgres/migrations/0005_ledger_functions.ts"

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
    "FROM pools p WHERE p.organization_id = p_organization FOR UPDATE;",
    "FROM pools p WHERE p.organization_id = p_organization;"
  ),
  inBatch("holds not locked", "ORDER BY h.id FOR UPDATE;", "ORDER BY h.id;"),
  inBatch(
    "holds locked in the order of arrival",
    "ORDER BY h.id FOR UPDATE;",
    "ORDER BY array_position(v_close_ids, h.id) FOR UPDATE;"
  ),
  inBatch("member months not locked", "mm.month FOR UPDATE OF mm;", "mm.month;"),
  inBatch("closed holds close again", "WHERE h.state = 'open'\n             AND (js", "WHERE (js"),
  inBatch("task's state not compared", "(t.state = j.e -> 'task' ->> 'from'", "(true"),
  inBatch("task's claim not compared", "OR t.lease = (", "OR t.lease <> ("),
  inBatch(
    "cap compared with <",
    "+ v_added[k] + v_amounts[i] > v_caps[k]",
    "+ v_added[k] + v_amounts[i] >= v_caps[k]"
  ),
  inBatch("cap blind to its batch", "v_used[k] + v_added[k] + v_amounts", "v_used[k] + v_amounts"),
  inBatch(
    "pool compared with <",
    "v_amounts[i] > v_available THEN",
    "v_amounts[i] >= v_available THEN"
  ),
  inBatch(
    "pool blind to its batch",
    "v_available := v_available - v_amounts[i];",
    "v_available := v_available;"
  ),
  inBatch("known holds held again", "IF v_known[i] THEN", "IF false THEN"),
  inBatch("used keys order again", "ELSIF v_key_holds[i] IS NOT NULL\n", "ELSIF false\n"),
  inBatch("stop of spending ignored", "ELSIF v_stopped THEN", "ELSIF false THEN"),
  inBatch(
    "charges not taken from the pool",
    "SET balance = p.balance - v_captured, held",
    "SET held"
  ),
  inBatch("held money not returned", "p.held - v_released + v_total", "p.held + v_total"),
  inBatch(
    "settled in whatever month",
    "AND mm.member_id = s.member_id\n             AND mm.month = s.month)",
    "AND mm.member_id = s.member_id)"
  ),
  inBatch(
    "overage cut off",
    "h.captured, u ->> 'basis'",
    "least(h.captured, h.amount), u ->> 'basis'"
  ),
  inBatch(
    "organisation dropped from a WHERE",
    "WHERE h.organization_id = p_organization AND h.id = e ->> 'id' AND o = ANY (v_fresh)",
    "WHERE h.id = e ->> 'id' AND o = ANY (v_fresh)"
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
