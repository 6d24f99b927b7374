import DescriptorIO
import Glibc
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("A peer by HTTP", .timeLimit(.minutes(5)))
struct PeerTests {
    private let folder = TemporaryFolder()

    /// Returns the path of a stand-in for pumpctl: a shell script that works in its own folder.
    private func pumpctl(_ script: String) -> String {
        let path = folder.write("#!/bin/sh\ncd \"${0%/*}\"\n\(script)\n", to: "pumpctl")
        chmod(path, 0o700)
        return path
    }

    /// Requests a peer with an image.
    private func offer(_ bench: PageBench, _ image: String, type: String = "image/png") async throws -> PageClient {
        let client = try await bench.client()
        let head = "Content-Type: \(type)\r\nContent-Length: \(image.utf8.count)\r\n"
        try await client.send("POST", "/api/v1/peer?name=A+b%22", token: bench.token, head)
        try await client.send(image)
        return client
    }

    private func say(_ text: JSONValue, _ bench: PageBench) async throws -> PageClient.Response {
        try await bench.ask("POST", "/api/v1/peer/say", object(["text": text]))
    }

    @Test("pumpctl gets the name, a private file with the image, and texts; the file is removed at the end")
    func offered() async throws {
        // The fourth descriptor is that of the folder which ls reads.
        let script = """
            for last; do :; done; file=${last#--image=}
            echo "$@"; cat "$file"; echo $(stat -c %a "$file" "${file%/*}") $(ls /proc/self/fd)
            while read -r line; do echo "said $line"; done
            """
        try await PageBench.run(pumpctl: pumpctl(script)) { bench in
            let client = try await offer(bench, "a PNG\n")
            _ = try await client.received.text(upTo: "peer host --json --name=A b\" --image=")
            let file = try await client.received.text(upTo: "\n").dropLast()
            try await client.received.text(upTo: "a PNG\n")
            try await client.received.text(upTo: "600 700 0 1 2 3\n")
            #expect(try await say("grüß dich", bench).status == 204)
            try await client.received.text(upTo: "said grüß dich\n")

            let image = String(file)
            let parent = image.split(separator: "/").dropLast(2).joined(separator: "/")
            let watch = try FolderWatch("/\(parent)")
            await client.channel.close()
            _ = try await watch.wait(for: "the removal of the image") {
                access(String(image.dropLast("/image.png".count)), F_OK) == 0 ? nil : true
            }
        }
    }

    /// The causes of a peer's end.
    enum Cause: CaseIterable { case client, server, session }

    @Test(
        "If the client leaves, its session or the server ends, pumpctl is interrupted; until then there is one peer",
        arguments: Cause.allCases)
    func left(cause: Cause) async throws {
        // A second interrupt would end the script early.
        let script = "trap 'kill $!; touch off; exit 130' INT; sleep 1000 & echo '{}'; wait"
        try await PageBench.run(pumpctl: pumpctl(script)) { bench in
            let watch = try FolderWatch(folder.path)
            let client = try await bench.client()
            try await client.send("POST", "/api/v1/peer", token: bench.token)
            try await client.received.text(upTo: "{}\n")
            let other = try await bench.ask("POST", "/api/v1/peer")
            #expect(other.status == 429 && other.code == "too_many_requests")
            switch cause {
            case .client: await client.channel.close()
            case .server: bench.end()
            case .session:
                // A sign of life.
                try await client.received.text(upTo: "\r\n1\r\n\n\r\n")
                _ = try await bench.ask("DELETE", "/api/v1/session")
            }
            _ = try await watch.wait(for: "the end of pumpctl") {
                access(folder.path("off"), F_OK) == 0 ? true : nil
            }
        }
    }

    @Test("A wrong request offers nothing, and leaves room for the next one")
    func refused() async throws {
        try await PageBench.run(pumpctl: pumpctl("echo '{}'; touch started")) { bench in
            let wrong = try await offer(bench, "x", type: "image/jpeg").response()
            #expect(wrong.status == 415 && wrong.code == "wrong_type")
            // One byte more than an image may have.
            let long = try await offer(bench, String(repeating: "x", count: 5_250_001)).response()
            #expect(long.status == 413 && long.code == "too_long")
            #expect(try await bench.ask("POST", "/api/v1/peer?adapter=hci0").status == 400)
            #expect(access(folder.path("started"), F_OK) != 0)

            let client = try await bench.client()
            try await client.send("POST", "/api/v1/peer", token: bench.token)
            #expect(PageClient.content(try await client.received.all("the response")) == "{}\n")
        }
        try await PageBench.run { bench in
            for _ in 0..<2 {
                let missing = try await bench.ask("POST", "/api/v1/peer")
                #expect(missing.status == 503 && missing.code == "not_installed")
            }
        }
    }

    @Test("A text that is no message, or that a central takes for an image, is refused; without a peer, any text is")
    func texts() async throws {
        try await PageBench.run { bench in
            for text: JSONValue in [1, "", "two\nlines", "\u{1B}[2J", "IMG_END"] {
                let response = try await say(text, bench)
                #expect(response.status == 400 && response.outcome == "not_sent", "\(text)")
            }
            let response = try await say("hello", bench)
            #expect(response.status == 409 && response.code == "no_peer" && response.outcome == "not_sent")
        }
    }
}
