import DeviceKit
import DeviceTestKit
import LineProtocol
import Testing
import Transports

@Suite("Retried queries")
struct RetryingQueryTests {
    private let clock = ManualClock()
    private let loss = LinkError(.disconnected, name: "scripted", activity: "receive")

    /// Queries a device whose first `losses` attempts fail with `error`, by default with the loss of the link. Each
    /// attempt takes `pause`. Returns the number of attempts, and whether the device replied.
    private func attempts(
        at endpoint: String, losses: Int, error: (any Error)? = nil, pause: Duration = .zero
    ) async throws -> String {
        let endpoint = try Endpoint(endpoint)
        var (count, retries) = (0, 0)
        let answer: Void? = try? await retryingQuery(of: endpoint, clock: clock, onRetry: { _ in retries += 1 }) {
            count += 1
            clock.advance(by: pause)
            if count <= losses { throw error ?? loss }
        }
        #expect(retries == count - 1)
        return "\(count) times, " + (answer == nil ? "not answered" : "answered")
    }

    @Test("A query to a lost BLE device is retried four times at most")
    func lost() async throws {
        #expect(try await attempts(at: "ble:HMSoft", losses: 2) == "3 times, answered")
        #expect(try await attempts(at: "ble:HMSoft", losses: 9) == "5 times, not answered")
        let lostLink = SessionError(.linkLost, command: "STATUS", outcome: .nothingChanged, link: loss)
        #expect(try await attempts(at: "ble:HMSoft", losses: 1, error: lostLink) == "2 times, answered")
    }

    @Test("A query is not retried after its time limit")
    func late() async throws {
        // The limit is 30 s.
        #expect(try await attempts(at: "ble:HMSoft", losses: 9, pause: .seconds(20)) == "2 times, not answered")
    }

    @Test("A query is not retried for ble:* or another carrier", arguments: ["ble:*", "tcp:bench:4000"])
    func others(endpoint: String) async throws {
        #expect(try await attempts(at: endpoint, losses: 1) == "1 times, not answered")
    }

    @Test("A query is not retried after other errors")
    func otherErrors() async throws {
        let refusal = SessionError(.refused, command: "STATUS", outcome: .nothingChanged, deviceCode: "X")
        #expect(try await attempts(at: "ble:HMSoft", losses: 1, error: refusal) == "1 times, not answered")
        #expect(try await attempts(at: "ble:HMSoft", losses: 1, error: CancellationError()) == "1 times, not answered")
    }
}
