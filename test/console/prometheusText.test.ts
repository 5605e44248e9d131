import { assert, it } from "@effect/vitest"
import { agesOf } from "../../src/console/pages/health/holdAges.ts"
import { samplesOf } from "../../src/console/pages/health/prometheusText.ts"

it("metrics are read with their labels, whatever stands in them", () => {
  const text = [
    "# HELP a What it is",
    "# TYPE a counter",
    'a{route="/v1/x",said="a \\"b\\", c}\\\\\\n"} 3',
    "b 1.5e-3",
    'c_bucket{le="+Inf"} +Inf 1767225600000',
    "no number",
    "d NaN",
    ""
  ].join("\n")
  assert.deepStrictEqual(samplesOf(text), [
    { name: "a", labels: { route: "/v1/x", said: 'a "b", c}\\\n' }, value: 3 },
    { name: "b", labels: {}, value: 0.0015 },
    { name: "c_bucket", labels: { le: "+Inf" }, value: Number.POSITIVE_INFINITY }
  ])
})

it("open orders fall into spans of age, and their holds add up exactly", () => {
  const now = Date.parse("2027-01-31T12:00:00Z")
  const order = (created_at: string, hold: string) => ({ created_at, hold })
  const lines = agesOf(
    [
      order("2027-01-31T11:59:59Z", "0.1"),
      order("2027-01-31T11:59:58Z", "0.2"),
      order("2027-01-31T11:59:00Z", "999999999.999999999"),
      order("2027-01-30T12:00:00Z", "4.968")
    ],
    now
  )
  assert.deepStrictEqual(
    lines.map(({ name, count, held }) => [name, count, held]),
    [
      ["minute", 2, "0.3"],
      ["tenMinutes", 1, "999999999.999999999"],
      ["hour", 0, "0"],
      ["sixHours", 0, "0"],
      ["day", 0, "0"],
      ["older", 1, "4.968"]
    ]
  )
})
