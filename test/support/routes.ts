/** Every route of the interface as it is declared, with a body that it takes. */
import { Context, type Schema } from "effect"
import { GatewayApi } from "../../src/contract/GatewayApi.ts"
import { RequiredScope } from "../../src/http/api/middlewares.ts"
import type { Scope } from "../../src/services/Access.ts"

export interface DeclaredRoute {
  readonly method: string
  /** With its parameters: `/v1/videos/:task_id`. */
  readonly path: string
  /** What an audit calls it. */
  readonly action: string
  /** Any of them opens it; none where none is declared. */
  readonly scopes: ReadonlyArray<Scope>
  /** Of its body as JSON; none where it takes none. */
  readonly bodies: ReadonlyArray<Schema.Top>
}

export const declaredRoutes: ReadonlyArray<DeclaredRoute> = Object.values(
  GatewayApi.groups
).flatMap((group) =>
  Object.values(group.endpoints).map((endpoint) => ({
    method: endpoint.method,
    path: endpoint.path,
    action: endpoint.identifier,
    scopes: [Context.getOrUndefined(endpoint.annotations, RequiredScope) ?? []].flat(),
    bodies: [...endpoint.payload]
      .filter(([type]) => type === "application/json")
      .flatMap(([, { schemas }]) => schemas)
  }))
)

/** Names of the parameters in a route's path. */
export const paramsOf = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(/:([^/]+)/g)].map(([, name = ""]) => name)

/** The path with the parameters filled in; `nobody` where there is no value for one. */
export const pathWith = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/:([^/]+)/g, (_, name: string) => encodeURIComponent(values[name] ?? "nobody"))

/** Mounts a model that does not exist, so that none of its variations replaces the catalog. */
const otherCatalog = {
  channels: [{ id: "ch-z", name: "Z", base_url: "http://127.0.0.1:9", api_key: "k", app_id: null }],
  models: [
    {
      id: "film-z",
      modality: "video",
      protocol: "vp_a",
      prices: {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "46", with_video: "28" } }
      }
    },
    { id: "clip-z", modality: "video", protocol: "vp_d" }
  ],
  mounts: [{ model: "ghost", channel: "ch-z" }]
}

/** Bodies that the routes take, for orders on the catalog of the tests. A new route is a new row. */
const examples: ReadonlyMap<string, ReadonlyArray<object>> = new Map<string, ReadonlyArray<object>>(
  [
    [
      "POST /v1/videos/generations",
      [
        { model: "film-1", prompt: "a lighthouse --rs 480p" },
        {
          model: "film-1",
          content: [
            { type: "text", text: "a lighthouse" },
            {
              type: "image_url",
              role: "first_frame",
              image_url: { url: "https://files.test/1.png" }
            },
            { type: "audio_url", audio_url: "https://files.test/1.mp3" }
          ],
          duration: 6,
          resolution: "1080p",
          ratio: "16:9",
          generate_audio: true
        },
        { model: "clip-1", prompt: "x", images: ["data:image/png;base64,AAAA"], duration: 5 }
      ]
    ],
    [
      "POST /v1/videos",
      [
        { model: "film-1", prompt: "a lighthouse", seconds: "6", size: "1280x720" },
        { model: "film-1", input_reference: { image_url: "https://files.test/1.png" } }
      ]
    ],
    [
      "POST /v1/videos/edits",
      [{ model: "film-1", prompt: "at night", video: "https://files.test/1.mp4" }]
    ],
    [
      "POST /v1/videos/extensions",
      [
        {
          model: "clip-1",
          prompt: "it goes on",
          video: { url: "https://files.test/1.mp4" },
          seconds: "6"
        }
      ]
    ],
    ["POST /v1/videos/:task_id/remix", [{ prompt: "at night" }]],
    [
      "POST /v1/images/edits",
      [
        {
          model: "paint-1",
          prompt: "a lighthouse",
          images: [{ image_url: "https://files.test/1.png" }],
          mask: "https://files.test/2.png",
          quality: "high"
        }
      ]
    ],
    [
      "POST /v1/images/generations",
      [
        { model: "paint-1", prompt: "a lighthouse" },
        {
          model: "paint-1",
          prompt: "a lighthouse",
          n: 2,
          size: "1024x1024",
          response_format: "b64_json",
          image: "https://files.test/1.png",
          seed: 7,
          style: { words: ["plain"] }
        }
      ]
    ],
    [
      "POST /v1/chat/completions",
      [
        { model: "talk-1", messages: [{ role: "user", content: "hello" }], max_tokens: 20 },
        {
          model: "look-1",
          messages: [
            { role: "system", content: "be brief" },
            {
              role: "user",
              content: [
                { type: "text", text: "what is it?" },
                { type: "image_url", image_url: { url: "https://files.test/1.png" } }
              ]
            }
          ],
          stream: true,
          stream_options: { include_usage: true },
          temperature: 0.2,
          n: 1,
          max_completion_tokens: 20,
          tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
        }
      ]
    ],
    [
      "POST /v1/responses",
      [
        { model: "talk-1", input: "hello", max_output_tokens: 20 },
        {
          model: "look-1",
          instructions: "be brief",
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text: "what is it?" },
                { type: "input_image", image_url: "https://files.test/1.png" }
              ]
            },
            { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
            { type: "function_call_output", call_id: "c1", output: "a lighthouse" }
          ],
          stream: true,
          store: false,
          text: { format: { type: "json_object" }, verbosity: "low" },
          reasoning: { effort: "low" },
          tools: [{ type: "function", name: "f", parameters: { type: "object" } }]
        }
      ]
    ],
    [
      "POST /v1/messages",
      [
        { model: "talk-1", max_tokens: 20, messages: [{ role: "user", content: "hello" }] },
        {
          model: "look-1",
          max_tokens: 20,
          system: [{ type: "text", text: "be brief" }],
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "what is it?" },
                { type: "image", source: { type: "url", url: "https://files.test/1.png" } }
              ]
            },
            {
              role: "assistant",
              content: [{ type: "tool_use", id: "c1", name: "f", input: {} }]
            },
            {
              role: "user",
              content: [{ type: "tool_result", tool_use_id: "c1", content: "a lighthouse" }]
            }
          ],
          stream: true,
          stop_sequences: ["END"],
          tools: [{ name: "f", input_schema: { type: "object" } }],
          tool_choice: { type: "auto", disable_parallel_tool_use: true },
          thinking: { type: "enabled", budget_tokens: 1024 },
          output_config: { effort: "low" }
        }
      ]
    ],
    [
      "POST /v1/embeddings",
      [
        { model: "vector-1", input: "a lighthouse" },
        { model: "vector-1", input: ["a", "b"], encoding_format: "float", dimensions: 8 },
        { model: "vector-1", input: [[1, 2], [3]] }
      ]
    ],
    [
      "POST /v1/quotes",
      [
        { model: "film-1", prompt: "a lighthouse", duration: 6, resolution: "1080p" },
        { model: "paint-1", prompt: "a lighthouse", n: 3 }
      ]
    ],
    ["POST /v1/rerank", [{ model: "rank-1", query: "x", documents: ["a", "b"] }]],
    ["POST /v1/audio/speech", [{ model: "speak-1", input: "x", voice: "a" }]],
    [
      "POST /v1/audio/transcriptions",
      [{ model: "listen-1", file: "data:audio/wav;base64,UklGRg==" }]
    ],
    [
      "POST /v1/audio/translations",
      [{ model: "listen-1", file: "data:audio/wav;base64,UklGRg==" }]
    ],
    ["PUT /admin/v1/catalog", [otherCatalog]],
    ["POST /admin/v1/catalog/preview", [otherCatalog]],
    [
      "POST /admin/v1/channels/test",
      [{ protocol: "openai", base_url: "http://127.0.0.1:9", api_key: "k" }]
    ],
    ["POST /admin/v1/organizations", [{ name: "An organisation" }]],
    ["POST /admin/v1/organizations/:id/deposits", [{ amount: "12.5", reference: "a transfer" }]],
    ["POST /admin/v1/organizations/:id/members", [{ name: "m", monthly_cap: "10" }]],
    [
      "POST /admin/v1/members/:id/keys",
      [
        {
          name: "k",
          scopes: ["videos", "images"],
          models: ["film-1"],
          expires_at: "2040-01-31T12:00:00Z",
          requests_per_minute: 600
        }
      ]
    ],
    ["PUT /admin/v1/organizations/:id/low_balance", [{ threshold: "10" }]],
    ...["/v1", "/admin/v1"].flatMap((root): ReadonlyArray<[string, ReadonlyArray<object>]> => {
      const at = `POST ${root}/webhook_endpoints`
      const endpoint = { name: "w", url: "https://example.com/h", event_types: ["video.failed"] }
      const operators = { ...endpoint, event_types: ["channel.down"] }
      return [
        [at, [root === "/v1" ? endpoint : operators]],
        [`${at}/:id`, [{ name: "x", enabled: true }]],
        [`${at}/:id/rotate_secret`, [{ keep_old_secret_active_for_24_hours: true }]],
        [`${at}/:id/test`, [{ event_type: "video.failed" }]],
        [`${at}/:id/redeliver`, [{ since: "2026-01-31T12:00:00Z" }]]
      ]
    }),
    ["POST /admin/v1/orphans/:id/resolve", [{ note: "looked into" }]],
    [
      "POST /admin/v1/organizations/:id/adjustments",
      [{ kind: "credit", amount: "1.5", reason: "goodwill", reference: "ticket 17" }]
    ],
    [
      "POST /admin/v1/organizations/:id/budgets",
      [{ scope: "organization", period: "month", amount: "100", thresholds: [50, 90] }]
    ],
    [
      "PATCH /admin/v1/organizations/:id/budgets/:budget_id",
      [{ amount: "1.5", thresholds: [100] }]
    ],
    ["POST /admin/v1/price-lists", [{ name: "Partners", factor: "0.9" }]],
    [
      "PUT /admin/v1/price-lists/:id",
      [{ name: "Partners", prices: { "paint-1": { kind: "image", per_image: "0.1" } } }]
    ],
    ["PATCH /admin/v1/organizations/:id", [{ name: "Another", enabled: true }]],
    ["PATCH /admin/v1/members/:id", [{ name: "n", monthly_cap: null, enabled: true }]],
    [
      "PATCH /admin/v1/keys/:id",
      [{ scopes: ["images"], models: ["paint-1"], requests_per_minute: 60, expires_at: null }]
    ],
    ["POST /admin/v1/operators", [{ name: "Ada", role: "finance" }]],
    ["PATCH /admin/v1/operators/:id", [{ role: "viewer" }]]
  ]
)

/** At least one body the route takes; dies for a route without a row. */
export const examplesOf = ({
  method,
  path
}: DeclaredRoute): readonly [object, ...ReadonlyArray<object>] => {
  const [first, ...rest] = examples.get(`${method} ${path}`) ?? []
  if (first === undefined) throw new Error(`${method} ${path} needs a row with bodies it takes`)
  return [first, ...rest]
}
