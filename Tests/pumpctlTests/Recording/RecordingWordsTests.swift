import DeviceKit
import Testing

@testable import pumpctl

@Suite("Messages on the record")
struct RecordingWordsTests {
    @Test("Counts of lost records are in the singular or plural", arguments: [(1, "1 record"), (2, "2 records")])
    func counts(count: Int, words: String) {
        #expect(SharedRecording.Report.begun(.lost(count)).text == "pumpctl: \(words) could not be written")
        #expect(
            SharedRecording.Report.begun(.recovered(lost: count)).text
                == "pumpctl: recording resumed; \(words) lost")
    }
}
