/** Operators and the audit log of their writes in memory. */
import { Clock, Effect, identity, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Changes } from "../../runtime/Changes.ts"
import {
  formatToken,
  isWellFormedToken,
  type LookUpGuard,
  TOKEN_BYTES,
  tokenHash
} from "../../services/bearerTokens.ts"
import { AdminAudit } from "../../services/operators/AdminAudit.ts"
import {
  noSuchOperator,
  type OperatorRecord,
  Operators,
  refusedToken
} from "../../services/operators/Operators.ts"
import { MemoryStore, pageOf } from "../memory/MemoryStore.ts"

export const layerOperatorsMemory = Layer.effect(
  Operators,
  Effect.gen(function* () {
    const { operators } = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes

    const find = (id: string) =>
      Effect.suspend(() => Effect.fromNullishOr(operators.get(id))).pipe(
        Effect.mapError(() => noSuchOperator)
      )

    const write = Effect.fnUntraced(function* (id: string, change: Partial<OperatorRecord>) {
      const operator = yield* find(id)
      const applyChange = Effect.sync(() => {
        operator.record = { ...operator.record, ...change }
        return operator.record
      })
      return yield* Effect.orDie(changes.changeAndNotify("keys", applyChange))
    })

    return Operators.of({
      authenticate: Effect.fn("Operators.authenticate")(function* <E = never>(
        token: Redacted.Redacted,
        guard: LookUpGuard<E> = identity
      ) {
        if (!isWellFormedToken("mgo_", token)) return yield* refusedToken
        const hash = tokenHash(token)
        const operator = [...operators.values()].find(
          (storedOperator) => storedOperator.hash === hash
        )
        if (operator === undefined || operator.record.revokedAt !== null) {
          return yield* guard(Effect.fail(refusedToken))
        }
        const { id, name, role } = operator.record
        return { id, name, role }
      }),
      create: Effect.fn("Operators.create")(function* ({ name, role }) {
        const id = `op_${yield* random.uuidV7()}`
        const token = formatToken("mgo_", yield* random.randomBytes(TOKEN_BYTES))
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        const record = { id, name, role, createdAt, revokedAt: null }
        operators.set(id, { record, hash: tokenHash(token) })
        return { record, token }
      }),
      list: Effect.fn("Operators.list")((page) =>
        Effect.suspend(() =>
          pageOf(
            [...operators.values()].map(({ record }) => record),
            page
          )
        )
      ),
      find: Effect.fn("Operators.find")((id) => Effect.map(find(id), ({ record }) => record)),
      change: Effect.fn("Operators.change")(write),
      revoke: Effect.fn("Operators.revoke")(function* (id) {
        const { record } = yield* find(id)
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* write(id, { revokedAt: record.revokedAt ?? now })
      })
    })
  })
)

export const layerAdminAuditMemory = Layer.effect(
  AdminAudit,
  Effect.gen(function* () {
    const { adminWrites } = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    return AdminAudit.of({
      record: Effect.fn("AdminAudit.record")(function* (write) {
        const id = `au_${yield* random.uuidV7()}`
        adminWrites.push({ ...write, id, at: new Date(yield* Clock.currentTimeMillis) })
      }),
      list: Effect.fn("AdminAudit.list")((filter, page) =>
        Effect.suspend(() =>
          pageOf(
            adminWrites,
            page,
            ({ operatorId, action, subjectId, at }) =>
              (filter.operatorId ?? operatorId) === operatorId &&
              (filter.action ?? action) === action &&
              (filter.subjectId ?? subjectId) === subjectId &&
              (filter.from === null || at >= filter.from) &&
              (filter.to === null || at < filter.to)
          )
        )
      )
    })
  })
)
