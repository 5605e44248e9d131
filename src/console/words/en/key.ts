export const key = {
  lead: "The API key of this tab. An operator creates, changes and revokes keys.",
  name: "Name",
  id: "ID",
  member: "Member",
  organization: "Organisation",
  never: "never",
  budget: "Monthly cap",
  spend: "Spend by key this month",
  key: "Key",
  thisKey: "{{name}} (this key)",
  orders: "Orders",
  charged: "Charged",
  nothing: "No orders this month"
}
