import FirmwareSim
import Foundation

extension Mutant {
    /// For each check, a phone with a flaw that only this check finds.
    ///
    /// Digits put before a number make it larger, mostly beyond its range. `-4` begins the third group of an id, a UUID
    /// of version 4, so `-5` in its place makes it the id of another message.
    static let phones: [Mutant] = [
        said("rescue.message.object", "leaves out a number", "\"latitude\":", "\"latitude\":,\"altitude\":"),
        Mutant(
            kills: "rescue.message.unended", flaw: "ends its messages as lines",
            says: [Saying(line: written, becomes: ["*"])]),
        said("rescue.message.members", "has another name for the content", "\"content\":", "\"text\":"),
        said("rescue.message.id", "has an id that is not a UUID", "\"id\":\"", "\"id\":\"0"),
        said("rescue.message.content", "has a number for a content", "\"TEST of pumpctl verify, please ignore\"", "7"),
        said("rescue.message.latitude", "is beyond the pole", "\"latitude\":", "\"latitude\":1"),
        said("rescue.message.longitude", "is beyond the date line", "\"longitude\":-", "\"longitude\":-2"),
        said("rescue.message.timestamp", "counts from 1970", "\"timestamp\":7", "\"timestamp\":17"),
        said("rescue.message.status", "has another status", "pending_sync", "pending"),
        said("rescue.message.category", "has another category", "\"Other\"", "\"Fire\""),
        said(
            "rescue.message.unique", "has one id for two messages", PhoneStock(seed: 1).message(.min).id.uuidString,
            PhoneStock(seed: 1).message(0).id.uuidString),
        said(
            "rescue.write.sent", "sends another category", "Resource", "Other",
            in: "{\"category\":\"Resource\",\"content\":\"TEST"),
        said(
            "rescue.write.pending", "has sent to nobody, and is done", "pending_sync", "synced",
            in: "{\"category\":\"Shelter\",\"content\":\"TEST"),
        said("rescue.received.whole", "moves a place", "\"latitude\":", "\"latitude\":1", in: received("whole")),
        said("rescue.received.pending", "keeps the status", "pending_sync", "synced", in: received("pending")),
        Mutant(
            kills: "rescue.received.once", flaw: "stores a duplicate",
            garbles: Hearing(contains: "(once)", from: "-4", to: "-5", spared: 1)),
        Mutant(
            kills: "rescue.received.parts", flaw: "takes no parts",
            garbles: Hearing(contains: "{\"id\"", longest: 20, from: "{", to: "")),
        Mutant(
            kills: "rescue.received.two", flaw: "reads one message of a write",
            garbles: Hearing(contains: "}{", from: "}{\"id\"", to: "}{\"no\"")),
        Mutant(
            kills: "rescue.received.restart", flaw: "forgets what it has",
            garbles: Hearing(contains: "(restart)", from: "-4", to: "-5", spared: 1)),
    ]

    /// The beginning of the message that is written on the phone before the first check.
    private static let written = "{\"category\":\"Other\",\"content\":\"TEST of pumpctl verify, please"

    /// The beginning of the message that the check `rescue.received.PART` sends to the phone.
    private static func received(_ part: String) -> String {
        "{\"category\":\"Other\",\"content\":\"TEST of pumpctl verify (\(part))"
    }

    /// A phone that sends a message with one text replaced.
    private static func said(
        _ check: String, _ flaw: String, _ from: String, _ to: String, in beginning: String = written
    ) -> Mutant {
        Mutant(kills: check, flaw: flaw, says: [Saying(line: beginning, becomes: [], replaces: (from, to))])
    }
}
