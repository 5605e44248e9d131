/** Every page of the console, and what stands below each. */
import type { Seeded } from "./seeds.ts"

export interface View {
  readonly name: string
  readonly path: (seeded: Seeded) => string
}

const at =
  (path: string): View["path"] =>
  () =>
    path

export const views: ReadonlyArray<View> = [
  { name: "playground", path: at("/playground?model=film-1") },
  { name: "playground-compare", path: at("/playground?model=film-1&compare=clip-1") },
  { name: "playground-ranking", path: at("/playground?model=rank-1") },
  { name: "playground-speech", path: at("/playground?model=voice-1") },
  { name: "playground-transcription", path: at("/playground?model=listen-1") },
  { name: "playground-video", path: ({ done }) => `/playground?model=film-1&task=${done}` },
  { name: "playground-images", path: ({ image }) => `/playground?model=paint-1&task=${image}` },
  { name: "orders", path: at("/orders") },
  { name: "order", path: ({ done }) => `/orders/${done}` },
  { name: "order-failed", path: ({ failed }) => `/orders/${failed}` },
  { name: "models", path: at("/models") },
  { name: "key", path: at("/key") },
  { name: "money", path: at("/money") },
  { name: "money-usage", path: at("/money/usage") },
  { name: "money-statements", path: at("/money/statements") },
  { name: "money-statement", path: ({ month }) => `/money/statements/${month}` },
  { name: "webhooks", path: at("/webhooks") },
  { name: "webhook", path: ({ endpoint }) => `/webhooks/${endpoint}` },
  { name: "overview", path: at("/overview") },
  { name: "all-orders", path: at("/all-orders") },
  { name: "order-history", path: ({ done }) => `/all-orders/${done}` },
  { name: "channels", path: at("/channels") },
  { name: "channel-wizard", path: at("/channels/new/vendor") },
  { name: "channel", path: ({ channel }) => `/channels/${channel}` },
  { name: "catalog-channels", path: at("/catalog") },
  { name: "catalog-models", path: at("/catalog?list=models") },
  { name: "catalog-mounts", path: at("/catalog?list=mounts") },
  { name: "catalog-json", path: at("/catalog?list=json") },
  { name: "price-lists", path: at("/price-lists") },
  { name: "books", path: at("/books") },
  { name: "books-costs", path: at("/books/costs") },
  { name: "books-verify", path: at("/books/verify") },
  { name: "books-reconciliations", path: at("/books/reconciliations") },
  { name: "customers", path: at("/customers") },
  ...[
    ...["", "/members", "/keys", "/money", "/money/transfers", "/money/charges", "/money/spend"],
    ...["/budgets", "/statements", "/webhooks", "/orders"]
  ].map((tab) => ({
    name: `customer${tab.replaceAll("/", "-")}`,
    path: ({ organizationId }: Seeded) => `/customers/${organizationId}${tab}`
  })),
  { name: "operators", path: at("/operators") },
  { name: "operators-webhooks", path: at("/operators/webhooks") },
  { name: "operators-audit", path: at("/operators/audit") },
  { name: "health", path: at("/health") },
  { name: "health-orphans", path: at("/health/orphans") },
  { name: "health-holds", path: at("/health/holds") },
  { name: "health-metrics", path: at("/health/metrics") },
  { name: "agents", path: ({ organizationId }) => `/agents?organization=${organizationId}` },
  { name: "docs", path: at("/docs") }
]
