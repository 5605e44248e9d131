/** Operators in PostgreSQL. Their tokens are looked up by their hash. */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { columnsOf, readPage, repeatable, rowOf, rowsOf } from "../../postgres/client/rows.ts"
import { makeTokenLookUps } from "../../postgres/stores/tokenLookUps.ts"
import { Changes } from "../../runtime/Changes.ts"
import { formatToken, TOKEN_BYTES, tokenHash } from "../../services/bearerTokens.ts"
import {
  type OperatorChange,
  OperatorRecord,
  Operators,
  refusedToken
} from "../../services/operators/Operators.ts"

export const layerOperators = Layer.effect(
  Operators,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const columns = sql.literal(columnsOf(OperatorRecord, "o"))
    const decode = rowsOf(OperatorRecord)

    const authenticate = yield* makeTokenLookUps({
      prefix: "mgo_",
      refused: refusedToken,
      read: Effect.fnUntraced(function* (hashHex: string) {
        const [row] = yield* decode(
          repeatable(sql`
            SELECT ${columns} FROM operators o
             WHERE hash = decode(${hashHex}, 'hex') AND revoked_at IS NULL`)
        )
        return row === undefined ? null : { id: row.id, name: row.name, role: row.role }
      })
    })

    const known = ([row]: ReadonlyArray<OperatorRecord>) =>
      row === undefined
        ? Effect.fail(new NotFound({ message: "No such operator" }))
        : Effect.succeed(row)

    return Operators.of({
      authenticate,
      create: Effect.fn("Operators.create")(function* ({ name, role }) {
        const id = `op_${yield* random.uuidV7()}`
        const token = formatToken("mgo_", yield* random.randomBytes(TOKEN_BYTES))
        // The repeat of a statement whose answer was lost finds the row of the first one.
        const record = yield* rowOf(OperatorRecord)(
          repeatable(sql`
            INSERT INTO operators AS o (id, name, role, hash)
            VALUES (${id}, ${name}, ${role}, decode(${tokenHash(token)}, 'hex'))
            ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING ${columns}`)
        )
        return { record, token }
      }),
      list: Effect.fn("Operators.list")((page) =>
        readPage(OperatorRecord, page, {
          isEntry: (after) => sql`SELECT 1 FROM operators WHERE id = ${after}`,
          newest: sql`
            SELECT ${columns} FROM operators o
             WHERE ${page.after === null ? sql`true` : sql`id < ${page.after}`}
             ORDER BY id DESC LIMIT ${page.limit + 1}`
        })
      ),
      find: Effect.fn("Operators.find")((id) =>
        Effect.flatMap(
          decode(repeatable(sql`SELECT ${columns} FROM operators o WHERE id = ${id}`)),
          known
        )
      ),
      change: Effect.fn("Operators.change")(
        (
          id,
          {
            name = null,
            role = null
          }: { [Field in keyof OperatorChange]: OperatorChange[Field] | null }
        ) =>
          Effect.flatMap(
            decode(
              repeatable(
                changes.changeAndNotify(
                  "keys",
                  sql`UPDATE operators o
                         SET name = coalesce(${name}, name), role = coalesce(${role}, role)
                       WHERE id = ${id} RETURNING ${columns}`
                )
              )
            ),
            known
          )
      ),
      revoke: Effect.fn("Operators.revoke")((id) =>
        Effect.flatMap(
          decode(
            repeatable(
              changes.changeAndNotify(
                "keys",
                sql`UPDATE operators o SET revoked_at = coalesce(revoked_at, now())
                     WHERE id = ${id} RETURNING ${columns}`
              )
            )
          ),
          known
        )
      )
    })
  })
)
