import { assert, describe, it } from "@effect/vitest"
import { asksForPrimary, serverUrls } from "../../src/runtime/serverUrls.ts"

describe("the servers of a database's address", () => {
  it("are one where there is one host", () => {
    for (const url of [
      "postgres://u:p@db:5432/gateway?sslmode=require",
      "postgresql:///gateway?host=/tmp",
      "Postgres://u:a@b,c@db/gateway",
      "postgres://db/gateway?target_session_attrs=any"
    ]) {
      assert.deepStrictEqual(serverUrls(url), [url])
    }
  })

  it("share everything but host and port", () => {
    assert.deepStrictEqual(
      serverUrls("postgres://u:p%40,q@a:5432,[::1]:5433,c/db?target_session_attrs=read-write"),
      [
        "postgres://u:p%40,q@a:5432/db?target_session_attrs=read-write",
        "postgres://u:p%40,q@[::1]:5433/db?target_session_attrs=read-write",
        "postgres://u:p%40,q@c/db?target_session_attrs=read-write"
      ]
    )
    assert.strictEqual(serverUrls("postgres://a,b/db").length, 2)
  })

  it("are none where one of them is not named", () => {
    for (const url of ["", "db:5432", "mysql://a/db", "postgres://a,/db", "postgres://a:x,b/db"]) {
      assert.deepStrictEqual(serverUrls(url), [], url)
    }
  })

  it("are a primary and its standbys, of which no other than the primary may be asked for", () => {
    assert.isTrue(asksForPrimary("postgres://a,b/db"))
    assert.isTrue(asksForPrimary("postgres://a,b/db?target_session_attrs=read-write"))
    assert.isTrue(asksForPrimary("postgres://a/db?target_session_attrs=any"))
    assert.isFalse(asksForPrimary("postgres://a,b/db?target_session_attrs=prefer-standby"))
  })
})
