import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CatalogDocument } from "../../../src/domain/catalog/CatalogDocument.ts"
import { findFaults } from "../../../src/domain/catalog/CatalogRules.ts"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"

describe("the address of a channel", () => {
  const faultsAt = (base_url: string, more: object = {}) =>
    findFaults(
      Schema.decodeUnknownSync(CatalogDocument)({
        channels: [
          { id: "one", name: "One", base_url: "https://one.example" },
          { id: "two", name: "Two", base_url, ...more }
        ],
        models: [],
        mounts: []
      }),
      builtInProtocols
    )

  it.each([
    "http://169.254.169.254",
    "https://169.254.0.1:8443/v1",
    "http://2852039166/",
    "http://0xA9FEA9FE",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518",
    "http://169.254.169.254./",
    "http://%31%36%39.254.169.254",
    "http://①⑥⑨.254.169.254",
    "http://[::ffff:169.254.169.254]/",
    "http://[0:0:0:0:0:FFFF:A9FE:A9FE]/",
    "http://[::169.254.169.254]",
    "http://[64:ff9b::169.254.169.254]",
    "http://[fe80::1]/",
    "http://[FEBF::1]/",
    "http://100.100.100.200",
    "http://1684301000",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://metadata.google.internal/computeMetadata/v1",
    "http://METADATA.google.internal./",
    "http://metadata/",
    "http://metadata.tencentyun.com",
    "http://instance-data"
  ])("needs leave to be %s", (address) => {
    const fault = {
      path: "channels[1].base_url",
      message:
        'a link-local address or one of a metadata service needs "allow_private": true on its channel'
    }
    assert.deepStrictEqual(faultsAt(address), [fault])
    assert.deepStrictEqual(faultsAt(address, { allow_private: false }), [fault])
    assert.deepStrictEqual(faultsAt(address, { allow_private: true }), [])
  })

  it.each([
    "http://127.0.0.1:8081/vp_a",
    "http://localhost",
    "http://[::1]:9/",
    "http://10.1.2.3",
    "http://172.16.0.1",
    "http://192.168.1.1",
    "http://[fd12:3456::1]/",
    "http://169.253.255.255",
    "http://100.100.100.201",
    "https://metadata.vendor.example",
    "https://169.254.169.254.vendor.example"
  ])("may be %s", (address) => {
    assert.deepStrictEqual(faultsAt(address), [])
  })
})
