"""The public page of a letter, which its QR code leads to. The reader needs the letter, but no account.

The page shows nothing about the person. The reader's browser checks the letter's file (static/notices/verify.js), and
the text of a review request goes to the organization alone.
"""
