/** Operators in PostgreSQL. An operator's token is looked up by its hash. */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError } from "effect/sql"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { columnsOf, readPage, retryBriefly, rowOf, rowsOf } from "../../postgres/client/rows.ts"
import { makeTokenLookUps } from "../../postgres/stores/tokenLookUps.ts"
import { Changes } from "../../runtime/Changes.ts"
import { formatToken, TOKEN_BYTES, tokenHash } from "../../services/bearerTokens.ts"
import {
  noSuchOperator,
  OperatorRecord,
  Operators,
  refusedToken
} from "../../services/operators/Operators.ts"

export const layerOperators = Layer.effect(
  Operators,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const columns = sql.literal(columnsOf(OperatorRecord, "o"))
    const decode = rowsOf(OperatorRecord)

    const authenticate = yield* makeTokenLookUps({
      prefix: "mgo_",
      refusal: refusedToken,
      read: Effect.fnUntraced(function* (hashHex: string) {
        const [operator] = yield* decode(
          retryBriefly(sql`
            SELECT ${columns} FROM operators o
             WHERE hash = decode(${hashHex}, 'hex') AND revoked_at IS NULL`)
        )
        return operator === undefined
          ? null
          : { id: operator.id, name: operator.name, role: operator.role }
      })
    })

    /** Reads or changes one operator; fails with `NotFound` where no row has the id. */
    const runOnOne = Effect.fnUntraced(function* (
      statement: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>
    ) {
      const [operator] = yield* decode(retryBriefly(statement))
      return operator ?? (yield* noSuchOperator)
    })

    return Operators.of({
      authenticate,
      create: Effect.fn("Operators.create")(function* ({ name, role }) {
        const id = `op_${yield* random.uuidV7()}`
        const token = formatToken("mgo_", yield* random.randomBytes(TOKEN_BYTES))
        // A repeat of the statement after a lost answer finds the row that the first attempt
        // inserted.
        const record = yield* rowOf(OperatorRecord)(
          retryBriefly(sql`
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
             WHERE ${isAfterCursor("id", page.after)}
             ORDER BY id DESC LIMIT ${page.limit + 1}`
        })
      ),
      find: Effect.fn("Operators.find")((id) =>
        runOnOne(sql`SELECT ${columns} FROM operators o WHERE id = ${id}`)
      ),
      change: Effect.fn("Operators.change")((id, { name, role }) =>
        runOnOne(
          changes.changeAndNotify(
            "keys",
            sql`UPDATE operators o
                   SET name = coalesce(${name ?? null}, name), role = coalesce(${role ?? null}, role)
                 WHERE id = ${id} RETURNING ${columns}`
          )
        )
      ),
      // An earlier time stays: `least` ignores null.
      revoke: Effect.fn("Operators.revoke")((id) =>
        runOnOne(
          changes.changeAndNotify(
            "keys",
            sql`UPDATE operators o SET revoked_at = least(revoked_at, now())
                 WHERE id = ${id} RETURNING ${columns}`
          )
        )
      )
    })
  })
)
