import LineProtocol
import TestSupport
import Testing

@testable import Sharing

/// A speaker over a scripted link, and what it says to all.
struct SpeakerBench<Rules: StreamRules> {
    let clock = ManualClock()
    let link: ScriptedLink
    let speaker: StreamSpeaker<Rules>
    /// What all are told, and then why the link was lost.
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

    /// A client that asks for something.
    struct Asker {
        /// What it is told.
        let answer: Watched<ReceivedText>
        fileprivate let asking: Task<SessionError?, Never>

        /// Why the answer is none, or not whole; nil where it is.
        func end() async -> SessionError? { await asking.value }
    }

    /// Asks, in its turn, for a client that stays while `isThere`.
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

    /// Lets time go by, once somebody waits for that.
    func pass(_ time: Duration) async {
        let end = clock.now.offset + time
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: time)
    }

    func close() async { await speaker.close() }
}
