import { assert, it } from "@effect/vitest"
import { clientOf } from "../../src/http/server/clientAddress.ts"

it.each([
  [undefined, "none"],
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["::FFFF:10.1.2.3", "10.1.2.3"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8::5:6:7:8:9", "2001:db8:0:5::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"]
])("the client behind %s is %s", (address, client) => {
  assert.strictEqual(clientOf(address), client)
})
