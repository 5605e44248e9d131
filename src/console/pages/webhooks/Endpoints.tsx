/** The list of one owner's endpoints, and the page of each. Must be mounted with `nest`. */
import { Route, Switch } from "wouter"
import { EndpointList } from "./EndpointList.tsx"
import { EndpointPage } from "./EndpointPage.tsx"
import type { HookCalls } from "./hookCalls.ts"

interface Props {
  readonly calls: HookCalls
  readonly lead: string
}

export const Endpoints = ({ calls, lead }: Props) => (
  <Switch>
    <Route path="/:id">{({ id }) => <EndpointPage calls={calls} id={id} listAddress="/" />}</Route>
    <Route>
      <EndpointList calls={calls} lead={lead} addressOf={(id) => `/${id}`} />
    </Route>
  </Switch>
)
