/** The page of customers: the list of all organisations, and the page of each. */
import { Route, Switch } from "wouter"
import { CustomerList } from "./CustomerList.tsx"
import { CustomerPage } from "./CustomerPage.tsx"

const CustomersPage = () => (
  <Switch>
    <Route path="/:id" nest>
      {({ id }) => <CustomerPage key={id} id={id} />}
    </Route>
    <Route>
      <CustomerList />
    </Route>
  </Switch>
)
export default CustomersPage
