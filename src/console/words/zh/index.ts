/** The Chinese texts, one file for each area. */
import type { en } from "../en/index.ts"
import type { Translated } from "../Translated.ts"
import { accounts } from "./accounts.ts"
import { agents } from "./agents.ts"
import { books } from "./books.ts"
import { catalog } from "./catalog.ts"
import { channels } from "./channels.ts"
import { failures } from "./failures.ts"
import { health } from "./health.ts"
import { key } from "./key.ts"
import { models } from "./models.ts"
import { money } from "./money.ts"
import { orders } from "./orders.ts"
import { overview } from "./overview.ts"
import { playground } from "./playground.ts"
import { priceLists } from "./priceLists.ts"
import { shell } from "./shell.ts"
import { webhooks } from "./webhooks.ts"
import { wizard } from "./wizard.ts"

export const zh: Translated<typeof en> = {
  accounts,
  agents,
  books,
  catalog,
  channels,
  failures,
  health,
  key,
  models,
  money,
  orders,
  overview,
  playground,
  priceLists,
  shell,
  webhooks,
  wizard
}
