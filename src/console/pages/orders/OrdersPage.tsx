import { Route, Switch } from "wouter"
import { OwnOrderList } from "./OwnOrderList.tsx"
import { OwnOrder } from "./one/OwnOrder.tsx"

const OrdersPage = () => (
  <Switch>
    <Route path="/:id">{({ id }) => <OwnOrder key={id} id={id} />}</Route>
    <Route>
      <OwnOrderList />
    </Route>
  </Switch>
)
export default OrdersPage
