//! Nodes of OpenSearch that a test starts and kills, alone or as a cluster.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Time for nodes to come up on a busy machine.
const START: Duration = Duration::from_secs(900);

/// Time for a question about the health of nodes.
const REQUEST: Duration = Duration::from_secs(20);

/// A node.
pub struct Node {
    port: u16,
    folder: TempDir,
    settings: Vec<String>,
    process: Child,
}

impl Node {
    fn words(port: u16, folder: &Path) -> Vec<String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/servers.sh");
        let mut command = Command::new(script);
        command
            .args(["command", "opensearch", &port.to_string()])
            .arg(folder.join("node"));
        let output = command.output().expect("the script runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    }

    /// Starts a node with further settings, each as `-Ename=value`; it does not answer yet.
    pub fn start(settings: &[String]) -> Node {
        let port = Node::free_port();
        let folder = tempfile::tempdir().expect("a folder");
        // Whoever runs the server has to get there.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let all = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.path(), all).expect("permissions");
        }
        let process = Node::run(port, folder.path(), settings);
        Node {
            port,
            folder,
            settings: settings.to_vec(),
            process,
        }
    }

    fn run(port: u16, folder: &Path, settings: &[String]) -> Child {
        let words = Node::words(port, folder);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(settings).current_dir("/");
        let (input, output) = (Stdio::null(), Stdio::null());
        command.stdin(input).stdout(output).stderr(Stdio::null());
        command.spawn().expect("a node")
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
    }

    /// Starts the node again over what it has left.
    pub fn restart(&mut self) {
        self.process = Node::run(self.port, self.folder.path(), &self.settings);
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until so many nodes are there, and every index has a copy that is searched.
    pub fn wait(&self, nodes: usize) {
        let until = Instant::now() + START;
        while !self.is_well(nodes) {
            assert!(Instant::now() < until, "{nodes} nodes do not come up");
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn is_well(&self, nodes: usize) -> bool {
        let url = format!("{}/_cluster/health?timeout=1s", self.address());
        let request = ureq::get(url)
            .config()
            .timeout_global(Some(REQUEST))
            .build();
        let Ok(mut answer) = request.call() else {
            return false;
        };
        let health = answer.body_mut().read_to_string().unwrap_or_default();
        let health: serde_json::Value = serde_json::from_str(&health).unwrap_or_default();
        health["number_of_nodes"] == nodes
            && matches!(health["status"].as_str(), Some("green" | "yellow"))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A cluster of three nodes, `n0`, `n1` and `n2`.
pub struct Cluster {
    pub nodes: Vec<Node>,
}

impl Cluster {
    /// Starts a cluster, and waits until it answers.
    pub fn start() -> Cluster {
        let ports: Vec<u16> = (0..3).map(|_| Node::free_port()).collect();
        let seeds = ports
            .iter()
            .map(|port| format!("127.0.0.1:{port}"))
            .collect::<Vec<_>>()
            .join(",");
        let node = |(at, port): (usize, &u16)| {
            Node::start(&[
                "-Ediscovery.type=zen".to_owned(),
                format!("-Ediscovery.seed_hosts={seeds}"),
                "-Ecluster.initial_cluster_manager_nodes=n0,n1,n2".to_owned(),
                format!("-Enode.name=n{at}"),
                format!("-Etransport.port={port}"),
            ])
        };
        let cluster = Cluster {
            nodes: ports.iter().enumerate().map(node).collect(),
        };
        cluster.wait();
        cluster
    }

    /// Waits until all nodes are there.
    pub fn wait(&self) {
        self.nodes[0].wait(self.nodes.len());
    }

    /// Returns the addresses of all nodes, as options take them.
    pub fn addresses(&self) -> String {
        let addresses: Vec<_> = self.nodes.iter().map(Node::address).collect();
        addresses.join(",")
    }
}
