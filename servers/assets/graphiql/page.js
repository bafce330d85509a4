// Starts GraphiQL with the first query of the schema that is bound.
(function () {
  "use strict";

  const host = document.getElementById("graphiql");
  const { query, title } = host.dataset;

  // Open tabs are not kept: a query from an earlier visit may belong to another schema. What else
  // GraphiQL remembers (theme, widths, history) is kept.
  const FORGOTTEN = ["tabState", "query", "variables", "headers", "operationName"];
  const visit = new Map();
  const forgotten = (key) => FORGOTTEN.some((name) => key.endsWith(":" + name));
  const storage = {
    get length() {
      return localStorage.length;
    },
    getItem: (key) => (forgotten(key) ? (visit.get(key) ?? null) : localStorage.getItem(key)),
    setItem: (key, value) =>
      forgotten(key) ? void visit.set(key, value) : localStorage.setItem(key, value),
    removeItem: (key) => (forgotten(key) ? void visit.delete(key) : localStorage.removeItem(key)),
    clear: () => {
      visit.clear();
      localStorage.clear();
    },
  };

  // As plain JSON a mistake in a query is an answer, and not a failed request on the console.
  const fetcher = GraphiQL.createFetcher({
    url: new URL("graphql", document.baseURI).href,
    headers: { Accept: "application/json" },
  });

  const element = React.createElement;
  ReactDOM.createRoot(host).render(
    element(
      GraphiQL,
      { fetcher, storage, defaultQuery: query },
      element(GraphiQL.Logo, null, title),
    ),
  );
})();
