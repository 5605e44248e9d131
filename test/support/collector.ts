/** A collector of telemetry over a real socket: it decodes what OTLP carries, as protobuf or JSON. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import { gunzipSync } from "node:zlib"
import { Effect, Schema, SchemaGetter } from "effect"
import protobuf from "protobufjs"
import { serving } from "./httpServer.ts"

/** The part of the protocol that a gateway can send, by the field numbers of OTLP 1. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
      ArrayValue array_value = 5; bytes bytes_value = 7;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Traces { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; uint32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13;
    Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; uint32 code = 3; }
  message Metrics { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric { string name = 1; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message Gauge { repeated Point data_points = 1; }
  message Sum { repeated Point data_points = 1; uint32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message Histogram { repeated Bars data_points = 1; uint32 aggregation_temporality = 2; }
  message Point {
    oneof value { double as_double = 4; sfixed64 as_int = 6; }
    repeated KeyValue attributes = 7;
  }
  message Bars {
    fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6;
    repeated double explicit_bounds = 7; repeated KeyValue attributes = 9;
  }
  message Logs { repeated ResourceLogs resource_logs = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
  message ScopeLogs { repeated LogRecord log_records = 2; }
  message LogRecord {
    uint32 severity_number = 2; string severity_text = 3; AnyValue body = 5;
    repeated KeyValue attributes = 6; bytes trace_id = 9; bytes span_id = 10;
  }
`)

/** Ids are bytes in protobuf and hexadecimal in JSON. */
const Id = Schema.Union([
  Schema.Uint8Array.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((bytes) => Buffer.from(bytes).toString("hex")),
      encode: SchemaGetter.transform((hex) => Buffer.from(hex, "hex"))
    })
  ),
  Schema.String
])
const absent = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)
const Count = Schema.Union([Schema.Number, Schema.NumberFromString])

const Attribute = Schema.Struct({
  key: Schema.String,
  value: Schema.Record(Schema.String, Schema.Unknown)
})
const Attributes = absent(Schema.Array(Attribute))
const Resource = Schema.Struct({ attributes: Attributes })

const Span = Schema.Struct({
  traceId: Id,
  spanId: Id,
  parentSpanId: absent(Id),
  name: Schema.String,
  kind: Schema.Number,
  attributes: Attributes,
  links: absent(Schema.Array(Schema.Struct({ traceId: Id, spanId: Id }))),
  events: absent(Schema.Array(Schema.Struct({ name: Schema.String, attributes: Attributes }))),
  status: absent(Schema.Struct({ code: absent(Schema.Number), message: absent(Schema.String) }))
})
const Point = Schema.Struct({
  asDouble: absent(Schema.Number),
  asInt: absent(Count),
  attributes: Attributes
})
const Bars = Schema.Struct({
  count: Count,
  sum: absent(Schema.Number),
  bucketCounts: Schema.Array(Count),
  explicitBounds: Schema.Array(Schema.Number),
  attributes: Attributes
})
const points = Schema.Struct({ dataPoints: Schema.Array(Point) })
const MetricShape = Schema.Struct({
  name: Schema.String,
  sum: absent(Schema.Struct({ ...points.fields, isMonotonic: absent(Schema.Boolean) })),
  gauge: absent(points),
  histogram: absent(Schema.Struct({ dataPoints: Schema.Array(Bars) }))
})
const LogShape = Schema.Struct({
  severityText: Schema.String,
  body: Schema.Record(Schema.String, Schema.Unknown),
  attributes: Attributes,
  traceId: absent(Id),
  spanId: absent(Id)
})

const decodeTraces = Schema.decodeUnknownSync(
  Schema.Struct({
    resourceSpans: Schema.Array(
      Schema.Struct({
        resource: Resource,
        scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
      })
    )
  })
)
const decodeMetrics = Schema.decodeUnknownSync(
  Schema.Struct({
    resourceMetrics: Schema.Array(
      Schema.Struct({
        resource: Resource,
        scopeMetrics: Schema.Array(Schema.Struct({ metrics: Schema.Array(MetricShape) }))
      })
    )
  })
)
const decodeLogs = Schema.decodeUnknownSync(
  Schema.Struct({
    resourceLogs: Schema.Array(
      Schema.Struct({
        resource: Resource,
        scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(LogShape) }))
      })
    )
  })
)

type Attributes = Readonly<Record<string, string | number | boolean>>

/** Attributes as one object. */
const attributesOf = (attributes: ReadonlyArray<typeof Attribute.Type> = []): Attributes =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [one] = Object.values(value)
      return [key, typeof one === "number" || typeof one === "boolean" ? one : String(one)]
    })
  )

const objectOf = (name: string, bytes: Uint8Array, isJson: boolean): unknown => {
  if (isJson) return JSON.parse(Buffer.from(bytes).toString())
  const type = root.lookupType(name)
  return type.toObject(type.decode(bytes), { longs: Number, arrays: true })
}

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly attributes: Attributes
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: number
}

interface Export {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** As it came, without its compression. */
  readonly bytes: Uint8Array
}

/** Takes an export, or does something else with it. */
type Answer = (response: ServerResponse) => void

export const taking: Answer = (response) => response.writeHead(200).end()
/** Never answers. */
export const hanging: Answer = () => undefined

/** Listens until the scope closes. */
export const makeCollector = Effect.fnUntraced(function* (first: Answer = taking) {
  const exports: Array<Export> = []
  const spans: Array<CollectedSpan> = []
  const logs: Array<{
    readonly text: string
    readonly level: string
    readonly traceId: string
    readonly attributes: Attributes
  }> = []
  const snapshots: Array<ReadonlyArray<typeof MetricShape.Type>> = []
  const resources: Array<Attributes> = []
  let answer = first

  const readTraces = (bytes: Uint8Array, isJson: boolean): void => {
    for (const group of decodeTraces(objectOf("Traces", bytes, isJson)).resourceSpans) {
      resources.push(attributesOf(group.resource.attributes))
      for (const span of group.scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({
          ...span,
          parentSpanId: span.parentSpanId ?? "",
          attributes: attributesOf(span.attributes),
          links: span.links ?? [],
          status: span.status?.code ?? 0
        })
      }
    }
  }

  const readMetrics = (bytes: Uint8Array, isJson: boolean): void => {
    for (const group of decodeMetrics(objectOf("Metrics", bytes, isJson)).resourceMetrics) {
      resources.push(attributesOf(group.resource.attributes))
      snapshots.push(group.scopeMetrics.flatMap(({ metrics }) => metrics))
    }
  }

  const readLogs = (bytes: Uint8Array, isJson: boolean): void => {
    for (const group of decodeLogs(objectOf("Logs", bytes, isJson)).resourceLogs) {
      resources.push(attributesOf(group.resource.attributes))
      for (const log of group.scopeLogs.flatMap((scope) => scope.logRecords)) {
        logs.push({
          text: JSON.stringify(log.body),
          level: log.severityText,
          traceId: log.traceId ?? "",
          attributes: attributesOf(log.attributes)
        })
      }
    }
  }

  const readers = new Map([
    ["/v1/traces", readTraces],
    ["/v1/metrics", readMetrics],
    ["/v1/logs", readLogs]
  ])
  const read = (path: string, bytes: Uint8Array, isJson: boolean): void => {
    const reader = readers.get(path)
    if (reader === undefined) throw new Error(`no signal has the path ${path}`)
    reader(bytes, isJson)
  }

  const url = yield* serving((request, response) => {
    void buffer(request).then((body) => {
      const path = request.url ?? ""
      const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body
      exports.push({ path, headers: request.headers, bytes })
      if (answer === taking)
        read(path, bytes, request.headers["content-type"] === "application/json")
      answer(response)
    })
  })

  return {
    url,
    exports,
    spans,
    logs,
    snapshots,
    resources,
    tell: (next: Answer) => {
      answer = next
    },
    /** Waits until something is true of what came. */
    until: (isThere: () => boolean) =>
      Effect.sync(isThere).pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: (there) => there }),
        Effect.timeout("20 seconds"),
        Effect.orDie
      )
  }
})

const labelsOf = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name.replace(/\W/g, "_")}=${value}`)
    .sort()
    .join()

/** How many values are at or below each bound. */
const bucketsOf = ({
  bucketCounts,
  explicitBounds
}: {
  readonly bucketCounts: ReadonlyArray<number>
  readonly explicitBounds: ReadonlyArray<number>
}): ReadonlyArray<readonly [bound: string, below: number]> => {
  let below = 0
  return bucketCounts.map((count, index) => {
    below += count
    return [`${explicitBounds[index] ?? "+Inf"}`, below]
  })
}

/** Every number of a snapshot by its name and labels in Prometheus' text. */
export const seriesOf = (
  metrics: ReadonlyArray<typeof MetricShape.Type>
): ReadonlyMap<string, number> => {
  const series = new Map<string, number>()
  const set = (name: string, attributes: Attributes, value: number) =>
    series.set(`${name.replace(/\W/g, "_")}{${labelsOf(attributes)}}`, value)
  for (const { name, sum, gauge, histogram } of metrics) {
    for (const { attributes, asDouble, asInt } of [
      ...(sum?.dataPoints ?? []),
      ...(gauge?.dataPoints ?? [])
    ]) {
      set(name, attributesOf(attributes), asDouble ?? asInt ?? 0)
    }
    for (const { attributes, ...points } of histogram?.dataPoints ?? []) {
      const labels = attributesOf(attributes)
      for (const [le, below] of bucketsOf(points)) set(`${name}_bucket`, { ...labels, le }, below)
      set(`${name}_count`, labels, points.count)
      set(`${name}_sum`, labels, points.sum ?? 0)
    }
  }
  return series
}
