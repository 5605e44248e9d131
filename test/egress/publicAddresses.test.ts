import { assert, describe, it } from "@effect/vitest"
import { faultOfUrl, isPublicAddress } from "../../src/egress/publicAddresses.ts"

describe("an address that a name leads to", () => {
  it.each(["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8"])(
    "%s may be called",
    (address) => assert.isTrue(isPublicAddress(address))
  )

  it.each([
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "240.0.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "2001::1",
    "not an address",
    ""
  ])("%s may not", (address) => assert.isFalse(isPublicAddress(address)))
})

describe("a URL by itself", () => {
  const open = { allowPrivate: true }
  const closed = { allowPrivate: false }

  it.each([
    "https://example.com/hooks",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]:8443/"
  ])("%s is fine", (url) => assert.isNull(faultOfUrl(url, closed)))

  it.each<readonly [string, string]>([
    ["no url", "must be a URL"],
    ["http://example.com/", "must begin with https://"],
    ["ftp://example.com/", "must begin with https://"],
    ["https://me:secret@example.com/", "must not contain a user name"],
    ...[
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "10.0.0.1"
    ].map((host) => [`https://${host}/`, "must lead to a public address"] as const),
    ...["localhost", "a.localhost", "LOCALHOST.", "metadata.google.internal"].map(
      (host) => [`https://${host}/`, "must lead to a public address"] as const
    )
  ])("%s: %s", (url, fault) => assert.include(faultOfUrl(url, closed) ?? "", fault))

  it("may be private and without encryption on a machine of one's own, and nothing else", () => {
    assert.isNull(faultOfUrl("http://127.0.0.1:9000/hooks", open))
    assert.include(faultOfUrl("ftp://127.0.0.1/", open) ?? "", "must begin with")
    assert.include(faultOfUrl("http://a:b@127.0.0.1/", open) ?? "", "user name")
  })
})
