import Glibc
import RecordFormat
import Recorder

/// `pumpctl-record write`: records what comes on standard input, up to its end.
struct Writing {
    private let recorder: Recorder

    init(_ path: String) {
        recorder = Recorder(at: path) { report in
            switch report {
            case .failing(let error): Output.say(.failing(Trouble(error)))
            case .overflowing: Output.say(.overflowing)
            case .recovered(let lost): Output.say(.recovered(lost: lost))
            }
        }
    }

    func run() async {
        // Nothing else has to run meanwhile but the recorder's own thread.
        while let line = readLine() {
            if let record = Record(line: line[...]) {
                recorder.record(record)
            } else if line == Answer.flush {
                do throws(RecorderError) {
                    try await recorder.flush()
                    Output.say(.flushed)
                } catch {
                    Output.say(.failing(Trouble(error)))
                }
            }
        }
        let tally = await recorder.close()
        Output.say(.done(written: tally.written, lost: tally.lost))
    }
}
