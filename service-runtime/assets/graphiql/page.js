// Starts GraphiQL with the first example of the schema that is bound, and connects what stands
// above it: the choice of examples, the switch for `explain`, and the field for the token.
(function () {
  "use strict";

  const host = document.getElementById("graphiql");
  const select = document.getElementById("examples");
  // Absent where the service would refuse such requests.
  const explain = document.getElementById("explain");
  // Absent where requests need no token. Its value is kept nowhere else.
  const token = document.getElementById("token");
  let examples = JSON.parse(host.dataset.examples);
  // Empty unless the path of this page has no slash at its end.
  const base = host.dataset.base;

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

  const given = () => token?.value.trim();
  const authorization = () => (given() ? { Authorization: "Bearer " + given() } : {});

  // The answers to the events of a subscription, one after another.
  async function* answers(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += read.value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const data = /^data: (.+)$/m.exec(text.slice(0, end));
        text = text.slice(end + 2);
        if (data) {
          yield JSON.parse(data[1]);
        }
      }
    }
  }

  // Stops at once when it is asked to, also while it waits for an event.
  const stoppable = (events, stop) => {
    const end = { done: true, value: undefined };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => events.next().catch((error) => (stop.signal.aborted ? end : Promise.reject(error))),
      return: () => {
        stop.abort();
        return Promise.resolve(end);
      },
    };
  };

  // Whether events are answered is for the service to say: right after a change GraphiQL still
  // takes the text in the editor for what it was before.
  const fetcher = async (request, options) => {
    const explained = explain?.checked && request.operationName !== "IntrospectionQuery";
    if (token && !given()) {
      // As the service would answer, but without a failed request on the console.
      return { errors: [{ message: "Requests need a token." }] };
    }
    const full = explained ? { ...request, extensions: { explain: true } } : request;
    const stop = new AbortController();
    const response = await fetch(base + "graphql", {
      method: "POST",
      headers: {
        ...options?.headers,
        ...authorization(),
        "Content-Type": "application/json",
        // As plain JSON a mistake in a query is an answer, and not a failed request on the console.
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(full),
      signal: stop.signal,
    });
    return response.headers.get("Content-Type")?.startsWith("text/event-stream")
      ? stoppable(answers(response), stop)
      : response.json();
  };

  // What is in the editor and is no example; nobody can choose it.
  const own = new Option("Your query", "");
  own.hidden = true;
  const fill = () => {
    select.replaceChildren(own, ...examples.map(({ title }, index) => new Option(title, index)));
    select.disabled = examples.length === 0;
  };
  fill();
  const indexOf = (text) => examples.findIndex(({ query }) => query.trim() === text.trim());
  const show = (text) => {
    const index = indexOf(text);
    select.value = index < 0 ? "" : String(index);
  };

  const element = React.createElement;

  // Follows the editor, and puts examples into it.
  function Examples() {
    const { activeTabIndex, addTab, queryEditor } = GraphiQL.React.useEditorContext();
    // An example that waits for a tab, and one whose tab has been asked for.
    const [waiting, wait] = React.useState(null);
    const chosen = React.useRef(null);
    React.useEffect(() => {
      if (!queryEditor) {
        return undefined;
      }
      const follow = () => show(queryEditor.getValue());
      const choose = () => {
        const text = queryEditor.getValue();
        const { query } = examples[Number(select.value)];
        if (text.trim() === "" || indexOf(text) >= 0) {
          queryEditor.setValue(query.trimEnd());
        } else {
          // What was written stays in its tab.
          setTimeout(() => wait({ query }));
        }
      };
      follow();
      queryEditor.on("change", follow);
      select.addEventListener("change", choose);
      return () => {
        queryEditor.off("change", follow);
        select.removeEventListener("change", choose);
      };
    }, [queryEditor]);
    // GraphiQL reads the editor while React applies its changes of the tabs. A change that comes
    // with an event is applied ahead of those that a timer has left, and then once more behind
    // them, when the editor shows the next tab. So the tab is added when nothing is left.
    React.useEffect(() => {
      if (waiting) {
        chosen.current = waiting.query;
        addTab();
      }
    }, [waiting]);
    React.useEffect(() => {
      if (chosen.current !== null) {
        queryEditor.setValue(chosen.current.trimEnd());
        chosen.current = null;
      }
    }, [activeTabIndex]);
    return null;
  }

  const ask = "# Requests need a token: put one into the field above.";

  // Asks for the schema and the examples again when there is another token.
  function Token() {
    const { introspect } = GraphiQL.React.useSchemaStore();
    const { queryEditor } = GraphiQL.React.useEditorContext();
    React.useEffect(() => {
      if (!token || !queryEditor) {
        return undefined;
      }
      const follow = async () => {
        introspect();
        const headers = authorization();
        const answer = given() && (await fetch(base + "examples", { headers }));
        if (!answer || !answer.ok) {
          return;
        }
        const shown = await answer.json();
        examples = shown.examples;
        fill();
        document.querySelector(".bar h1").textContent = shown.title;
        if (queryEditor.getValue() === ask && examples.length > 0) {
          queryEditor.setValue(examples[0].query.trimEnd());
        }
        show(queryEditor.getValue());
      };
      token.addEventListener("change", follow);
      return () => token.removeEventListener("change", follow);
    }, [introspect, queryEditor]);
    return null;
  }

  const none =
    "# No schema is bound to this service yet.\n" +
    "# Store one with POST /soml and bind it with PUT /soml/{id}/objects, then load this page again.";
  const defaultQuery = (examples[0]?.query ?? (token ? ask : none)).trimEnd();
  ReactDOM.createRoot(host).render(
    element(
      GraphiQL,
      { fetcher, storage, defaultQuery },
      element(GraphiQL.Logo, null, element(Examples), element(Token)),
    ),
  );
})();
