import { Route, Switch } from "wouter"
import { AllOrderList } from "./AllOrderList.tsx"
import { OrderTimeline } from "./details/OrderTimeline.tsx"

const AllOrdersPage = () => (
  <Switch>
    <Route path="/:id">{({ id }) => <OrderTimeline key={id} id={id} />}</Route>
    <Route>
      <AllOrderList />
    </Route>
  </Switch>
)
export default AllOrdersPage
