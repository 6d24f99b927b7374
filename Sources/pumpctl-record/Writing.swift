import RecordFormat
import Recorder

/// `pumpctl-record write`: records standard input until its end.
struct Writing {
    private let recorder: Recorder
    /// The messages to store at the next commit.
    private var messages: [StoredMessage] = []
    /// The IDs of the messages to mark as handed on at the next commit.
    private var syncedIDs: [String] = []

    init(_ path: String) {
        recorder = Recorder(at: path) { report in
            switch report {
            case .failing(let error): Output.say(.failing(Trouble(error)))
            case .overflowing: Output.say(.overflowing)
            case .recovered(let lost): Output.say(.recovered(lost: lost))
            }
        }
    }

    /// Records until the end of input, waits until the records are on the disk, and prints the number of written and
    /// lost records as the last answer.
    mutating func run() async {
        var input = Input()
        // Whether this thread has lowered its priority, which it does once, after the first records: from then on, no
        // session with a device must wait for the recording.
        var isBehind = false
        // The blocking read delays nothing: only the recorder's own thread has other work.
        while let lines = input.next() {
            var isRecording = false
            for line in lines {
                if let record = Record(line: line) {
                    recorder.record(record)
                    isRecording = true
                } else if let request = MessageRequest(line: line) {
                    await take(request)
                }
            }
            guard isRecording else { continue }
            if !isBehind { Scheduling.stepBack() }
            isBehind = true
            input.gather()
        }
        let tally = await recorder.close()
        Output.say(.done(written: tally.written, lost: tally.lost))
    }

    private mutating func take(_ request: MessageRequest) async {
        switch request {
        case .store(let message): messages.append(message)
        case .markSynced(let id): syncedIDs.append(id)
        case .commit:
            do throws(RecorderError) {
                Output.say(.committed(isNew: try await recorder.commit(messages, markingSynced: syncedIDs)))
            } catch {
                Output.say(.refused(Trouble(error)))
            }
            (messages, syncedIDs) = ([], [])
        }
    }
}
