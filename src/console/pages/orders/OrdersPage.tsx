import { Route, Switch } from "wouter"
import { OwnOrder } from "./details/OwnOrder.tsx"
import { OwnOrderList } from "./OwnOrderList.tsx"

const OrdersPage = () => (
  <Switch>
    <Route path="/:id">{({ id }) => <OwnOrder key={id} id={id} />}</Route>
    <Route>
      <OwnOrderList />
    </Route>
  </Switch>
)
export default OrdersPage
