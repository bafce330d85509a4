//! The words of titles and abstracts, and the topics of research.
//!
//! Changing a list changes the data: nothing else draws as often.

/// Words of titles and abstracts, in alphabetical order.
#[rustfmt::skip]
pub const WORDS: [&str; 440] = [
    "abstract", "account", "adaptive", "agent", "algebra", "algorithm", "analysis", "angle",
    "approach", "archive", "array", "aspect", "assembly", "axiom", "balance", "bandwidth",
    "barrier", "baseline", "basis", "batch", "behaviour", "benchmark", "binary", "binding", "block",
    "boundary", "branch", "bridge", "buffer", "cache", "calculus", "canvas", "carrier", "catalogue",
    "causal", "cell", "chain", "channel", "checkpoint", "cipher", "circuit", "classifier", "clause",
    "client", "cluster", "code", "coherent", "colour", "column", "commerce", "commit", "compact",
    "compiler", "complex", "component", "compression", "concept", "concurrent", "condition",
    "conflict", "consensus", "constraint", "context", "contract", "control", "convex", "coral",
    "corpus", "cost", "counter", "crystal", "current", "curve", "cycle", "database", "deadline",
    "decision", "decoder", "deep", "default", "degree", "delay", "density", "dependency", "design",
    "detector", "diagram", "dialect", "dictionary", "digital", "dimension", "discrete", "distance",
    "distributed", "document", "domain", "driver", "dynamic", "economy", "edge", "editor", "effect",
    "elastic", "element", "embedding", "emergent", "encoder", "energy", "engine", "entity",
    "entropy", "epoch", "error", "estimate", "event", "evidence", "evolution", "exact", "example",
    "exchange", "experiment", "expression", "fabric", "factor", "failure", "fair", "feature",
    "federated", "feedback", "field", "filter", "finite", "flow", "fluid", "forest", "formal",
    "format", "fraction", "fragment", "frame", "frequency", "function", "fuzzy", "game", "gateway",
    "gene", "genome", "geometry", "global", "gradient", "grammar", "graph", "grid", "group",
    "growth", "guarantee", "hardware", "harmonic", "hash", "heap", "heat", "hidden", "hierarchy",
    "history", "horizon", "human", "hybrid", "hypothesis", "identity", "image", "impact",
    "implicit", "incremental", "index", "inference", "infinite", "influence", "input", "instance",
    "integer", "interface", "interval", "invariant", "iterative", "join", "journal", "kernel",
    "key", "knowledge", "label", "lambda", "language", "large", "latency", "lattice", "layer",
    "leader", "learning", "lemma", "level", "library", "lifetime", "light", "limit", "linear",
    "link", "list", "local", "logic", "loop", "machine", "magnetic", "manifold", "map", "marine",
    "market", "matrix", "measure", "mechanism", "memory", "message", "method", "metric", "mobile",
    "model", "modular", "molecule", "momentum", "monitor", "motion", "multiple", "mutual",
    "narrative", "natural", "network", "neural", "neutral", "node", "noise", "normal", "notation",
    "object", "observer", "ocean", "online", "ontology", "operator", "optical", "optimal", "oracle",
    "orbit", "order", "origin", "output", "overlay", "packet", "parallel", "parameter", "parser",
    "particle", "partition", "path", "pattern", "payment", "peer", "perception", "period", "phase",
    "phrase", "physical", "pipeline", "plan", "planet", "plasma", "platform", "policy", "polymer",
    "population", "portable", "position", "predicate", "prediction", "pressure", "principle",
    "privacy", "probability", "problem", "process", "profile", "program", "projection", "proof",
    "protein", "protocol", "provenance", "proxy", "quality", "quantum", "query", "queue", "random",
    "range", "rate", "reaction", "reader", "real", "reasoning", "record", "recovery", "recursive",
    "region", "register", "relation", "relative", "relay", "reliable", "remote", "replica",
    "report", "request", "research", "resource", "response", "result", "revision", "risk", "river",
    "robust", "role", "root", "rotation", "router", "rule", "sample", "scalable", "scale",
    "schedule", "schema", "science", "scope", "search", "secure", "segment", "selection",
    "semantic", "sensor", "sequence", "server", "session", "shape", "share", "signal", "silent",
    "simple", "simulation", "single", "skeleton", "social", "software", "solution", "source",
    "space", "sparse", "spectrum", "speech", "stable", "stack", "standard", "static", "statistic",
    "storage", "strategy", "stream", "string", "structure", "study", "subset", "surface", "survey",
    "switch", "symbol", "symmetric", "syntax", "synthesis", "system", "table", "target", "task",
    "taxonomy", "template", "temporal", "tensor", "term", "testing", "text", "theorem", "theory",
    "thread", "threshold", "time", "token", "topology", "trace", "traffic", "transaction",
    "transfer", "transform", "tree", "trust", "tuple", "type", "uncertain", "uniform", "union",
    "unit", "universal", "update", "user", "utility", "valid", "value", "variable", "vector",
    "version", "video", "view", "virtual", "vision", "visual", "volume", "wave", "weak", "weather",
    "web", "weight", "window", "wireless", "word", "workflow", "world",
];

/// Topics of research, in alphabetical order.
#[rustfmt::skip]
pub const TOPICS: [&str; 30] = [
    "algebra", "algorithms", "archaeology", "astronomy", "biology", "botany", "chemistry",
    "climate", "compilers", "cryptography", "databases", "ecology", "economics", "genetics",
    "geology", "geometry", "graphics", "hydrology", "languages", "linguistics", "logic", "medicine",
    "networks", "optics", "phonetics", "robotics", "security", "statistics", "topology", "zoology",
];
