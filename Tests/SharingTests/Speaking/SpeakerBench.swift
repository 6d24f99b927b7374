import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import Sharing

/// A speaker over a scripted link, and its output for all clients.
struct SpeakerBench<Rules: StreamRules> {
    let clock = ManualClock()
    let link: ScriptedLink
    let speaker: StreamSpeaker<Rules>
    /// The output for all clients, followed by the reason for the loss of the link.
    let speech = Watched(ReceivedText())

    init(_ rules: Rules, over link: ScriptedLink) {
        self.link = link
        speaker = StreamSpeaker.begin(over: link, clock: clock, rules) { [speech] piece in
            switch piece {
            case .said(let bytes, _): speech.update { $0.bytes += bytes }
            case .lost(let error):
                speech.update { speech in
                    speech.bytes += Array("lost: \(error.code)\n".utf8)
                    speech.hasEnded = true
                }
            }
        }
    }

    /// A client with a pending request.
    struct Asker {
        /// The output for this client.
        let answer: Watched<ReceivedText>
        fileprivate let asking: Task<SessionError?, Never>

        /// Waits for the end; returns the reason for a missing or incomplete reply, nil for a complete one.
        func end() async -> SessionError? { await asking.value }
    }

    /// Begins a request, which waits for its turn, of a client that is connected as long as `isThere` returns true.
    func ask(_ line: String, isThere: @escaping @Sendable () -> Bool = { true }) -> Asker {
        let answer = Watched(ReceivedText())
        let asking = Task.immediate(executorPreference: link.executor) { [speaker] () -> SessionError? in
            do throws(SessionError) {
                let asker = Sharing.Asker(tell: { bytes, _ in answer.update { $0.bytes += bytes } }, isThere: isThere)
                try await speaker.perform(ClientLine(Array(line.utf8), .change), for: asker)
            } catch {
                return error
            }
            return nil
        }
        return Asker(answer: answer, asking: asking)
    }

    /// Waits until something sleeps for exactly `time` from now, and advances the clock by it.
    func pass(_ time: Duration) async {
        let end = clock.now.offset + time
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: time)
    }

    func close() async { await speaker.close() }
}
