/** Rows that a hand has broken: they fail, and what stands beside them goes on. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../src/services/Ledger.ts"
import { layerStoresOnServer, organization, usageOf } from "../../support/ledger.ts"

layer(layerStoresOnServer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "broken rows",
  (it) => {
    it.effect("of a member's month fail its orders, and no other of the organisation", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const { organizationId, memberIds, hold, close } = yield* organization(100n, 2)
        const [broken, sound] = memberIds.map((memberId) => hold(1n, { memberId }))
        if (broken === undefined || sound === undefined) return assert.fail("two members")
        yield* ledger.hold(broken)
        yield* ledger.hold(sound)
        yield* sql`DELETE FROM member_months
                    WHERE organization_id = ${organizationId} AND member_id = ${broken.memberId}`
        const capture = ({ id }: typeof sound) =>
          Effect.exit(ledger.capture({ ...close(id), chargeNano: 1n, usage: usageOf(1n) }))
        const exits = yield* Effect.all([capture(broken), capture(sound)], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          exits.map(({ _tag }) => _tag),
          ["Failure", "Success"]
        )
        yield* ledger.hold(hold(1n, { memberId: sound.memberId }))
      })
    )

    it.effect("that cannot be read keep no other organisation from being audited", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const [unreadable, broken] = [yield* organization(100n), yield* organization(100n)]
        yield* sql.unsafe(`
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'this row is on a bad page'; END $$`)
        yield* sql.unsafe(`
          CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON ledger_audited_pools FOR EACH ROW
            WHEN (NEW.organization_id = '${unreadable.organizationId}'
                  AND NEW.verified_at IS NOT NULL) EXECUTE FUNCTION refuse()`)
        yield* sql`UPDATE pools SET balance = 1 WHERE organization_id = ${broken.organizationId}`
        const found = yield* ledger.verifyOf([unreadable.organizationId, broken.organizationId])
        assert.deepStrictEqual(
          found.map(({ organizationId }) => organizationId),
          [broken.organizationId]
        )
      })
    )
  }
)
